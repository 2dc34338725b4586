package definition

import (
	"crypto/sha256"
	"sync"

	"k8s.io/utils/lru"
)

// Cache keeps the definitions that were asked for last: compiling the rules of one takes far longer than using them.
type Cache struct {
	definitions *lru.Cache
	// one at a time makes a definition, so that none is made twice
	making sync.Mutex
}

// NewCache keeps at most size definitions.
func NewCache(size int) *Cache { return &Cache{definitions: lru.New(size)} }

type cached struct {
	definition *Definition
	err        error
}

// Get is Create, or Update when old is not nil, of texts that may have been seen before.
func (c *Cache) Get(text string, old *string, fieldValidation string) (*Definition, error) {
	c.making.Lock()
	defer c.making.Unlock()
	key := struct {
		text, old       [sha256.Size]byte
		update          bool
		fieldValidation string
	}{text: sha256.Sum256([]byte(text)), update: old != nil, fieldValidation: fieldValidation}
	if old != nil {
		key.old = sha256.Sum256([]byte(*old))
	}
	if known, found := c.definitions.Get(key); found {
		got := known.(cached)
		return got.definition, got.err
	}
	var got cached
	if old == nil {
		got.definition, got.err = Create(text, fieldValidation)
	} else {
		got.definition, got.err = Update(text, *old, fieldValidation)
	}
	c.definitions.Add(key, got)
	return got.definition, got.err
}
