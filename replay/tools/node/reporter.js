// The part that all reporters of ours have: a line of JSON for each event, written at once, behind the code that run.js asks for. It holds
// what it needs, since tests replace such things.
const { writeSync, openSync, unlinkSync } = require('fs')
const { createHmac } = require('crypto')
const { relative, isAbsolute } = require('path')
const { stringify } = JSON
const REPORT = "@REPORT@"
const ROOT = "@ROOT@"
const KEY = "@KEY@"
const LONG = 8000
let fd = -1
let ended = 0
let bad = 0
let sum = ''

try {
  unlinkSync(__filename) // it has the key
} catch (e) {
  // it was loaded before
}

function emit(event) {
  if (fd < 0) fd = openSync(REPORT, 'a')
  const text = stringify(event)
  sum = createHmac('sha256', KEY).update(sum + text).digest('hex')
  writeSync(fd, sum + ' ' + text + '\n')
}

function inside(file) {
  if (typeof file !== 'string') return ''
  const f = file.startsWith('file://') ? decodeURIComponent(file.slice(7)) : file
  return isAbsolute(f) ? relative(ROOT, f) : f
}

function words(text) {
  let s = String(text === undefined || text === null ? '' : text)
  s = s.replace(/\u001b\[[0-9;]*m/g, '').split(ROOT + '/').join('')
  return s.length <= LONG ? s : s.slice(0, LONG / 2) + '\n[...]\n' + s.slice(-LONG / 2)
}

// Some tools give every error both, as the text of what is not there.
const known = value => value !== undefined && value !== 'undefined'

// why tells what failed: an assertion, or any other exception.
function why(err) {
  if (err === null || typeof err !== 'object') return { k: 'exception', m: words(err) }
  let name = '', message = '', assertion = false
  try {
    name = String(err.name || (err.constructor && err.constructor.name) || 'Error')
    message = String(err.message === undefined ? '' : err.message)
    assertion = /Assertion/.test(name) || err.code === 'ERR_ASSERTION' || err.matcherResult !== undefined ||
      ((known(err.expected) || known(err.actual)) && err.code === undefined && !/^(?:Type|Reference|Range|Syntax)Error/.test(name))
    if (err.code && typeof err.code === 'string' && !message.includes(err.code)) name += ' [' + err.code + ']'
  } catch (e) {
    message = 'an error that cannot be printed'
  }
  return { k: assertion ? 'assertion' : 'exception', m: words(message.startsWith(name) ? message : name + ': ' + message) }
}

function end(file, path, o, err, late) {
  if (!late) ended++
  if (o === 'fail' || o === 'error' || o === 'timeout') bad++
  const f = err === undefined ? {} : typeof err === 'string' ? { m: words(err) } : why(err)
  if (f.k === 'exception' && o === 'fail') o = 'error'
  emit({ e: 'end', file: inside(file), path, o, k: o === 'fail' || o === 'error' ? f.k || 'exception' : '', m: f.m || '', late: !!late })
}

function broken(file, text) {
  bad++
  emit({ e: 'broken', file: inside(file), m: words(text) })
}

function done() {
  emit({ e: 'done', tests: ended, bad })
}
