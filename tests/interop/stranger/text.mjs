// ChangeSets: CodeMirror's JSON on the wire; inside an array of [length, text] with text undefined for a kept section.
export const parse = json => json.map(s => (typeof s === 'number' ? [s] : [s[0], s.slice(1).join('\n')]))
export const format = set => set.map(([len, text]) => (text === undefined ? len : text ? [len, ...text.split('\n')] : [len]))

export function apply(json, doc) {
  let at = 0,
    out = ''
  for (const [len, text] of parse(json)) {
    out += text === undefined ? doc.slice(at, at + len) : text
    at += len
  }
  if (at !== doc.length) throw new Error(`change is for ${at} units, the text has ${doc.length}`)
  return out
}

export function moved([start, end], change) {
  // range of the text after the change: protocol/socket.md, "Comments"
  const from = position(change, start, true)
  return [from, Math.max(from, position(change, end, false))]
}

function position(change, at, after) {
  let old = 0,
    now = 0
  for (const [len, text] of parse(change)) {
    const next = old + len
    if (text === undefined && next > at) return now + at - old
    if (text !== undefined && (next > at || (next === at && !len && !after))) return now + (at === old || !after ? 0 : text.length)
    now += text === undefined ? len : text.length
    old = next
  }
  return now
}

export function replacement(doc, from, to, text) {
  // change that replaces doc[from..to] by text
  const out = []
  add(out, from)
  add(out, to - from, text)
  add(out, doc.length - to)
  return format(out)
}

function add(out, len, text, join = false) {
  if (!len && !text) return
  const last = out.at(-1)
  if (last && !text && last[1] === text)
    last[0] += len // keep after keep, deletion after deletion
  else if (last && len === 0 && last[0] === 0) last[1] += text
  else if (join && last) {
    last[0] += len
    last[1] = (last[1] ?? '') + text
  } else out.push(text === undefined ? [len] : [len, text])
}

class Walk {
  constructor(json) {
    this.rest = parse(json)
    this.i = -1
    this.next()
  }
  next() {
    const section = this.rest[++this.i]
    this.done = !section
    ;[this.len, this.text] = section ?? [0]
    this.off = 0
    this.left = this.text?.length // rest of the text, for compose
  }
  get keeps() {
    return !this.done && this.text === undefined
  }
  get len2() {
    return this.text === undefined ? this.len : this.left
  }
  forward(n) {
    if (n === this.len) this.next()
    else {
      this.len -= n
      this.off += n
    }
  }
  forward2(n) {
    if (this.keeps) this.forward(n)
    else if (n === this.left) this.next()
    else {
      this.left -= n
      this.off += n
    }
  }
}

export function compose(first, second) {
  // one change that does first, then second
  const a = new Walk(first),
    b = new Walk(second),
    out = []
  for (let open = false; !(a.done && b.done);) {
    if (a.text === '') {
      add(out, a.len, '', open)
      a.next()
      continue
    }
    if (!b.done && b.len === 0) {
      add(out, 0, b.text, open)
      b.next()
      continue
    }
    if (a.done || b.done) throw new Error('lengths do not fit')
    const n = Math.min(a.len2, b.len),
      before = out.length
    if (a.keeps) add(out, n, b.keeps ? undefined : b.off ? '' : b.text, open)
    else if (b.keeps) add(out, a.off ? 0 : a.len, a.text.slice(a.off, a.off + n), open)
    else add(out, a.off ? 0 : a.len, b.off ? '' : b.text, open)
    open = ((a.left ?? -1) > n || (!b.keeps && b.len > n)) && (open || out.length > before)
    a.forward2(n)
    b.forward(n)
  }
  return format(out)
}

export function map(change, over, before = false) {
  // rebases change over `over`; before: its insertions come first
  const a = new Walk(change),
    b = new Walk(over),
    out = []
  for (let inserted = -1; ;) {
    if (a.done && b.done) return format(out)
    if ((a.done && b.len) || (b.done && a.len)) throw new Error('lengths do not fit')
    if (a.keeps && b.keeps) {
      const n = Math.min(a.len, b.len)
      add(out, n)
      a.forward(n)
      b.forward(n)
    } else if (
      b.text !== undefined &&
      (a.text === undefined || inserted === a.i || (a.off === 0 && (b.len < a.len || (b.len === a.len && !before))))
    ) {
      let n = b.len
      add(out, b.text.length)
      while (n) {
        const piece = Math.min(a.len, n)
        if (a.text !== undefined && inserted < a.i && a.len <= piece) {
          add(out, 0, a.text)
          inserted = a.i
        }
        a.forward(piece)
        n -= piece
      }
      b.next()
    } else {
      let n = 0,
        left = a.len
      while (left) {
        if (b.keeps) {
          const piece = Math.min(left, b.len)
          n += piece
          left -= piece
          b.forward(piece)
        } else if (b.text === '' && b.len < left) {
          left -= b.len
          b.next()
        } else break
      }
      add(out, n, inserted < a.i ? a.text : '')
      inserted = a.i
      a.forward(a.len - left)
    }
  }
}
