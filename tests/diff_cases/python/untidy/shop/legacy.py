'''Old helpers that other programs still use.'''


def slug( text ):
    words = [ word.strip( '-_.,' ).lower() for word in text.split() ];
    return ( '-'.join( (word) for word in words if (word) ) )
def chunked( values , size , ):
    out = [ ]
    for (start) in range( 0 , len(values) , size ): out.append(values[start:start+size])
    return (
        out
    )

class Registry():
    '''
    Names and what they stand for.
    '''
    def __init__(self): self.entries = {}
    def register(self, name, value):
        if (name in self.entries): raise (KeyError(name))
        self.entries[name] = value; return value

    def lookup(self, name, default = None): return self.entries.get(
        name, default
    )

    def names(self): return sorted((self.entries))
