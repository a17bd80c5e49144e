opt --passes=SynthesizeAllReduceSignals --pass-option=SynthesizeAllReduceSignals.sharing=lineage %s
