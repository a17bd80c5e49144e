// Starts `pldc lsp` for programs of pldc and stops it with the editor.
'use strict';

const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

function activate() {
  const settings = vscode.workspace.getConfiguration('pldc');
  const server = {
    command: settings.get('path'),
    args: ['lsp', ...settings.get('arguments')],
    transport: TransportKind.stdio,
  };
  client = new LanguageClient('pldc', 'pldc', server, { documentSelector: [{ language: 'pld' }] });
  return client.start();
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, deactivate };
