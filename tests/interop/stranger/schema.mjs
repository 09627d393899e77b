// Validator for the part of JSON Schema that protocol/schema uses. Returns the errors.
export function complaints(schema, value, root = schema, path = '$') {
  if (schema === true) return []
  if (schema.$ref) return complaints(schema.$ref === '#' ? root : root.$defs[schema.$ref.slice(8)], value, root, path)
  const out = [],
    say = text => out.push(`${path} ${text}`),
    inside = (s, v, key) => out.push(...complaints(s, v, root, `${path}.${key}`))
  const is = {
    null: value === null,
    array: Array.isArray(value),
    object: value !== null && typeof value === 'object' && !Array.isArray(value),
    string: typeof value === 'string',
    number: typeof value === 'number',
    integer: Number.isInteger(value),
    boolean: typeof value === 'boolean'
  }
  if (schema.type && ![schema.type].flat().some(t => is[t])) return [`${path} is no ${schema.type}`]
  if ('const' in schema && schema.const !== value) say(`is not ${schema.const}`)
  if (schema.enum && !schema.enum.includes(value)) say(`is none of ${schema.enum}`)
  if (is.string && schema.pattern && !new RegExp(schema.pattern, 'u').test(value)) say(`does not match ${schema.pattern}`)
  if (is.number && (value < schema.minimum || value > schema.maximum)) say('is out of range')
  if (is.array) {
    if (value.length < schema.minItems || value.length > schema.maxItems) say('has a wrong length')
    value.forEach((v, i) => {
      const s = schema.prefixItems?.[i] ?? schema.items
      if (s) inside(s, v, i)
    })
  }
  if (is.object) {
    for (const key of schema.required ?? []) if (!(key in value)) say(`lacks ${key}`)
    for (const [key, v] of Object.entries(value)) {
      const s =
        schema.properties?.[key] ?? Object.entries(schema.patternProperties ?? {}).find(([p]) => new RegExp(p).test(key))?.[1]
      if (s) inside(s, v, key)
      else if (schema.additionalProperties === false) say(`has an unknown field ${key}`)
      else if (typeof schema.additionalProperties === 'object') inside(schema.additionalProperties, v, key)
    }
  }
  for (const word of ['anyOf', 'oneOf'])
    if (schema[word]) {
      const tries = schema[word].map(s => complaints(s, value, root, path))
      if (!tries.some(t => !t.length)) out.push(...tries.sort((a, b) => b[0].length - a[0].length)[0])
    }
  return out
}
