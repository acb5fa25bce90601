// Starts a test tool with a reporter of ours. Arguments: a JSON object, then the tool's own, in which "@reporter@" is the reporter's
// file. The object has: pkg and bin (the tool's package and its program; none: node itself), node (options of node), report (the file to
// write), reporter (its program's text), ext, each (a program that cannot load a file of several is run again for
// each), read (the reporter is a function that reads what the program prints for one file; each file is run alone).
//
// Tests could write into a report that they find. So the reporter writes to a file of its own, with each line a code that only those can
// make who know a key, and takes its own text with the key out of the way when it is loaded. What is right is copied
// to the report at once, so that a run that never ends leaves what it had. The last line printed says what the report's bytes were: only then
// is it believed.
const crypto = require('crypto')
const fs = require('fs')
const os = require('os')
const path = require('path')
const { spawn } = require('child_process')
const [config, ...args] = process.argv.slice(1)
const c = JSON.parse(config)
const cwd = process.cwd()
const old = process.env.SLUICE_NODE_OLD // the folder of the node that the tool runs on, if it is an old one
const node = old ? old + '/bin/node' : process.execPath
const kept = 16 << 10
const printed = 32 << 20

function above(name) {
  const found = []
  for (let d = cwd; ; d = path.dirname(d)) {
    const p = path.join(d, 'node_modules', name)
    if (fs.existsSync(p)) found.push(p)
    if (d === path.dirname(d)) return found
  }
}

function program() {
  if (!c.pkg) return []
  const dir = above(c.pkg)[0]
  if (!dir) return null
  const m = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'))
  const bin = typeof m.bin === 'string' ? m.bin : (m.bin || {})[c.bin] || Object.values(m.bin || {})[0]
  return bin ? [fs.realpathSync(path.join(dir, bin))] : null
}

// source is one reporter: its program, the file that it writes, and how far that was read.
let source = null
let report = -1 // the descriptor of the report
const seal = crypto.createHash('sha256')
let spoilt = false

function reporter() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'reporter-'))
  const file = path.join(dir, 'reporter' + (c.ext || '.cjs'))
  const lines = path.join(dir, 'lines')
  const key = crypto.randomBytes(32).toString('hex')
  source = { file, key, fd: fs.openSync(lines, 'wx+', 0o600), at: 0, rest: Buffer.alloc(0), sum: '', events: 0 }
  const values = { REPORT: lines, ROOT: cwd, KEY: key }
  const text = Object.keys(values).reduce((t, k) => t.split('"@' + k + '@"').join(JSON.stringify(values[k])), c.reporter)
  fs.writeFileSync(file, text, { mode: 0o600 })
  return file
}

// line writes to the report.
function line(text) {
  if (report < 0) {
    if (fs.existsSync(c.report)) spoilt = true // it is somebody else's
    report = fs.openSync(c.report, 'a', 0o644)
  }
  fs.writeSync(report, text + '\n')
  seal.update(text + '\n')
}

// copy takes over the lines that the reporter has written.
function copy() {
  const s = source
  if (!s) return
  if (fs.fstatSync(s.fd).size < s.at) spoilt = true
  for (;;) {
    const b = Buffer.alloc(1 << 16)
    const n = fs.readSync(s.fd, b, 0, b.length, s.at)
    if (n <= 0) return
    s.at += n
    s.rest = Buffer.concat([s.rest, b.slice(0, n)])
    for (let i; (i = s.rest.indexOf(10)) >= 0; s.rest = s.rest.slice(i + 1)) take(s, s.rest.slice(0, i).toString())
  }
}

function take(s, text) {
  const event = text.slice(65)
  const sum = crypto.createHmac('sha256', s.key).update(s.sum + event).digest('hex')
  if (text.slice(0, 65) !== sum + ' ') {
    spoilt = true
    return
  }
  s.sum = sum
  s.events++
  line(event)
}

// finish says what the report is, if nobody else has written anything.
function finish() {
  if (source && source.rest.length > 0) spoilt = true
  const want = seal.digest('hex')
  if (spoilt || report < 0) return
  const found = crypto.createHash('sha256')
  const fd = fs.openSync(c.report, 'r')
  const b = Buffer.alloc(1 << 20)
  for (let n; (n = fs.readSync(fd, b, 0, b.length, null)) > 0;) found.update(b.slice(0, n))
  if (found.digest('hex') === want) process.stdout.write('\nsluice report sha256:' + want + '\n')
}

function run(args) {
  const file = args.some(a => a.includes('@reporter@')) ? reporter() : ''
  const words = args.map(a => a.split('@reporter@').join(file))
  const copying = setInterval(copy, 200)
  return new Promise(done => {
    let tail = '', out = ''
    const env = Object.assign({}, process.env, { PATH: above('.bin').concat(old ? old + '/bin' : [], process.env.PATH).join(path.delimiter) })
    const p = spawn(node, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const name of ['stdout', 'stderr']) {
      p[name].on('data', d => {
        process[name].write(d)
        if (name === 'stdout') out = (out + d.toString()).slice(-printed)
        tail = (tail + d.toString()).slice(-kept)
      })
    }
    p.on('error', e => done({ code: 127, signal: null, tail: String(e), out: '' }))
    // Not its streams' end: what the tests left running may hold them.
    p.on('exit', (code, signal) => setTimeout(() => done({ code, signal, tail, out }), 100))
  }).then(r => {
    clearInterval(copying)
    copy()
    return r
  })
}

const local = text => text.split(cwd + path.sep).join('').trim()

const began = () => source && source.events > 0

const broken = (file, r) => line(JSON.stringify({ e: 'broken', file, m: local(r.tail) }))

// alone runs each file by itself, and says which could not be loaded.
async function alone(words, files, first) {
  let code = first.code
  for (const file of files) {
    const r = await run(words.concat(file))
    if (!began()) broken(file, r)
    code = code || r.code
  }
  return code
}

// reading runs each file and has what the program printed read. A file that turns out to be none of the tool's does not count.
async function reading(words, files, read) {
  let code = 0
  for (const file of files) {
    const r = await run(words.concat(file))
    if (r.signal) process.kill(process.pid, r.signal)
    if (read(local(r.out), file, r.code)) code = code || r.code
    copy()
  }
  return code
}

// expand lists the files that a pattern fits, in order; a name without a pattern stays. Folders stand for the code below them.
function expand(pattern) {
  const special = /[*?{[+@!]/.test(pattern)
  const at = path.resolve(cwd, pattern)
  if (!special && !(fs.existsSync(at) && fs.statSync(at).isDirectory())) return [pattern]
  const fits = special ? expression(pattern.replace(/^\.\//, '')) : { test: f => f.startsWith(path.relative(cwd, at) + '/') && /\.[cm]?[jt]s$/.test(f) }
  return walk('').filter(f => fits.test(f) && !(c.read && /(?:^|\/)(?:fixtures|helpers)\/|(?:^|\/)_/.test(f)))
}

function expression(glob) {
  const parts = glob.match(/\*\*\/|\*\*|\*|\?|[+@]\([^)]*\)|\{[^}]*\}|[^*?{+@]+|./g) || []
  const any = list => '(?:' + list.map(quote).join('|') + ')'
  return new RegExp('^' + parts.map(p => {
    if (p === '**/') return '(?:.*/)?'
    if (p === '**') return '.*'
    if (p === '*') return '[^/]*'
    if (p === '?') return '[^/]'
    if (p.length > 2 && (p[0] === '{' || p[1] === '(')) return any(p.slice(p[0] === '{' ? 1 : 2, -1).split(p[0] === '{' ? ',' : '|')) + (p[0] === '+' ? '+' : '')
    return quote(p)
  }).join('') + '$')
}

const quote = s => s.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

function walk(dir) {
  const entries = fs.readdirSync(path.join(cwd, dir), { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)
  return entries.flatMap(e => {
    const name = dir ? dir + '/' + e.name : e.name
    if (e.isDirectory()) return e.name === 'node_modules' || e.name[0] === '.' ? [] : walk(name)
    return e.isFile() ? [name] : []
  })
}

async function main() {
  const bin = program()
  if (bin === null) {
    console.error('sluice: ' + c.pkg + ' is not installed')
    return 127
  }
  const words = (c.node || []).concat(bin, args)
  const files = c.glob ? (c.files || []).flatMap(expand) : c.files || []
  if (c.read) return reading(words, files, require(reporter()))
  const r = await run(words.concat(files))
  if (r.signal) {
    process.kill(process.pid, r.signal)
    return 1
  }
  if (began() || !c.each || r.code === 0) return r.code
  if (files.length > 1) return alone(words, files, r)
  broken(files[0] || '', r)
  return r.code
}

main().then(code => {
  finish()
  process.exit(code)
}).catch(e => {
  console.error(e)
  process.exit(125)
})
