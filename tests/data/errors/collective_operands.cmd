opt --passes=MaterializeCommDomainScopes %s
