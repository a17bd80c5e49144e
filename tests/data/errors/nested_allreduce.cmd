opt --passes=SynthesizeAllReduceSignals %s
