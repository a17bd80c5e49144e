opt --passes=SynthesizeAllReduceSignals,MaterializeCommDomainScopes,LowerHostTensorCollectives --pass-option=LowerHostTensorCollectives.aiv_cores=48 %s
