
// Reads what AVA says of one file in TAP, which all its versions can; a file alone, since of several the report has shortened names.
const POINT = /^(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO).*)?$/
const HOOK = /^(before|after|beforeEach|afterEach)(?:\.always)? hook(?: for (.*))?$/
const EXITED = /(?:exited (?:with a non-zero exit code|due to)|Exited because no new tests completed)/
const NOTHING = /Couldn.t find any files to test|No tests found in|exited (?:without|with no) /

function points(text) {
  const list = []
  let block = false
  for (const line of text.split('\n')) {
    const m = block ? null : POINT.exec(line)
    const last = list[list.length - 1]
    if (m) list.push({ ok: m[1] === 'ok', title: m[2], directive: m[3] || '', words: [] })
    else if (/^\s+---$/.test(line)) block = true
    else if (/^\s+\.\.\.$/.test(line)) block = false
    else if (block && last) last.words.push(line.replace(/^ {4}/, ''))
    else if (last && !/^(?:1\.\.|# |$)/.test(line)) last.words.push(line)
  }
  return list
}

// failure tells an assertion from what the test threw, of which AVA prints the object.
function failure(p) {
  const text = p.words.join('\n')
  const thrown = /Error thrown in test:?'?: \|-\n\s*(\w+) \{[^]*?message: '((?:[^'\\]|\\.)*)'/.exec(text)
  if (/Error thrown in test/.test(text)) return { name: thrown ? thrown[1] : 'Error', message: thrown ? thrown[2].replace(/\\(.)/g, '$1') : text }
  return { name: 'AssertionError', message: (/^message: (?:'')?(.+)$/m.exec(text) || ['', ''])[1] + '\n' + text }
}

module.exports = function read(text, file, code) {
  const list = points(text)
  const tests = Number((/^# tests (\d+)$/m.exec(text) || ['', '0'])[1])
  const pure = list.filter(p => !HOOK.test(p.title) && !EXITED.test(p.title))
  if (NOTHING.test(text) && tests === 0) return false
  const whole = list.map(p => p.title + '\n' + p.words.join('\n')).join('\n')
  ended = bad = 0 // of this file
  emit({ e: 'begin' })
  if (tests === 0 && !pure.some(p => p.ok)) broken(file, whole || text)
  else each(list, file)
  if (!/^1\.\.\d/m.test(text)) broken(file, 'the report has no end: ' + whole)
  else if (list.some(p => EXITED.test(p.title)) && tests > 0) broken(file, whole)
  done()
  return true
}

function each(list, file) {
  let last = null
  for (const p of list) {
    if (EXITED.test(p.title)) continue
    const hook = HOOK.exec(p.title)
    if (p.directive) end(file, [p.title], 'skip')
    else if (p.ok) end(file, [p.title], 'pass')
    else if (hook && hook[2]) end(file, [hook[2]], 'fail', failure(p), hook[1] === 'afterEach')
    else if (hook && hook[1] === 'after' && last) end(file, [last], 'fail', failure(p), true)
    else if (hook) broken(file, p.title + ': ' + failure(p).message)
    else end(file, [p.title], 'fail', failure(p))
    if (!hook) last = p.title
  }
}
