// The digest of a document: protocol/events.md, "Digest".
import { createHash } from 'node:crypto'

export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.keys(value).sort() // by UTF-16 units
  return `{${fields.map(key => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}
export const digest = document => createHash('sha256').update(canonical(document)).digest('hex')
