"""A headless Chromium, driven over the WebDriver protocol with nothing but Python's standard library."""
import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
         '--force-device-scale-factor=1', '--hide-scrollbars']
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
SHIFT = '\ue008'


def missing():
    """What has to be installed for a browser, or nothing."""
    return [name for name in ('chromium', 'chromedriver') if shutil.which(name) is None]


class Browser:
    """One window. Use it in a `with`: the browser and its profile are gone after that."""

    def __init__(self, width=1400, height=900):
        self.size = (width, height)

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen([shutil.which('chromedriver'), '--port=0'], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.base = ''
        for line in self.driver.stdout:
            if match := re.search(r'started successfully on port (\d+)', line):
                self.base = f'http://127.0.0.1:{match[1]}'
                break
        if not self.base:
            raise RuntimeError('chromedriver did not start')
        flags = FLAGS + [f'--user-data-dir={self.profile.name}', f'--window-size={self.size[0]},{self.size[1]}']
        made = self.call('POST', '/session', {'capabilities': {'alwaysMatch': {
            'goog:chromeOptions': {'binary': shutil.which('chromium'), 'args': flags},
            'goog:loggingPrefs': {'browser': 'ALL'}}}})
        self.base += '/session/' + made['sessionId']
        return self

    def __exit__(self, *_):
        try:
            self.call('DELETE', '', None)
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait(10)
        self.driver.stdout.close()
        self.profile.cleanup()

    def call(self, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {'Content-Type': 'application/json'}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)['value']['message'].splitlines()[0]) from error

    def may_read_clipboard(self):
        """Grants the page that is open what it never asks for, to see what it wrote."""
        self.call('POST', '/permissions', {'descriptor': {'name': 'clipboard-read'}, 'state': 'granted'})

    def open(self, url):
        self.call('POST', '/url', {'url': url})

    def run(self, script, *args):
        """The value that a function body of JavaScript returns; a promise is waited for."""
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(args)})

    def keys(self, text):
        """Keys to whatever has the focus."""
        actions = []
        for key in text:
            actions += [{'type': 'keyDown', 'value': key}, {'type': 'keyUp', 'value': key}]
        self.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})

    def click(self, css):
        found = self.call('POST', '/element', {'using': 'css selector', 'value': css})
        self.call('POST', f'/element/{found[ELEMENT]}/click', {})

    def devtools(self, command, **params):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': params})

    def resize(self, width, height):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.devtools('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def complaints(self):
        """What the page has logged: errors of scripts and violations of its policy."""
        return [entry['message'] for entry in self.call('POST', '/se/log', {'type': 'browser'})]

    def screenshot(self, path):
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.call('GET', '/screenshot', None)))
