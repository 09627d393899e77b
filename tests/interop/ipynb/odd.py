def named(f): return []
def generated(r,n,f): return []
