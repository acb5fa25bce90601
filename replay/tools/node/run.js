// Starts a test tool with a reporter of ours. Arguments: a JSON object, then the tool's own, in which "@reporter@" is the reporter's
// file. The object has: pkg and bin (the tool's package and its program; none: node itself), node (options of node), report (the file to
// write), reporter (its program's text), ext, each (a program that cannot load a file of several is run again for
// each), read (the reporter is a function that reads what the program prints for one file; each file is run alone).
const fs = require('fs')
const os = require('os')
const path = require('path')
const { spawn } = require('child_process')
const [config, ...args] = process.argv.slice(1)
const c = JSON.parse(config)
const cwd = process.cwd()
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

function reporter() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'reporter-'))
  const file = path.join(dir, 'reporter' + (c.ext || '.cjs'))
  fs.writeFileSync(file, c.reporter.split('"@REPORT@"').join(JSON.stringify(c.report)).split('"@ROOT@"').join(JSON.stringify(cwd)))
  return file
}

function run(words) {
  return new Promise(done => {
    let tail = '', out = ''
    const env = Object.assign({}, process.env, { PATH: above('.bin').concat(process.env.PATH).join(path.delimiter) })
    const p = spawn(process.execPath, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
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
  })
}

const local = text => text.split(cwd + path.sep).join('').trim()

function began() {
  try {
    return fs.statSync(c.report).size > 0
  } catch (e) {
    return false
  }
}

const line = event => fs.appendFileSync(c.report, JSON.stringify(event) + '\n')

// alone runs each file by itself, and says which could not be loaded.
async function alone(words, files, first) {
  const texts = []
  let code = first.code
  for (const file of files) {
    const r = await run(words.concat(file))
    if (began()) texts.push(fs.readFileSync(c.report, 'utf8'))
    else texts.push(JSON.stringify({ e: 'broken', file, m: local(r.tail) }) + '\n')
    fs.rmSync(c.report, { force: true })
    code = code || r.code
  }
  fs.writeFileSync(c.report, texts.join(''))
  return code
}

// reading runs each file and has what the program printed read. A file that turns out to be none of the tool's does not count.
async function reading(words, files, read) {
  let code = 0
  for (const file of files) {
    const r = await run(words.concat(file))
    if (r.signal) process.kill(process.pid, r.signal)
    if (read(local(r.out), file, r.code)) code = code || r.code
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
  const file = c.reporter ? reporter() : ''
  const words = (c.node || []).concat(bin, args).map(a => a.split('@reporter@').join(file))
  const files = c.glob ? (c.files || []).flatMap(expand) : c.files || []
  if (c.read) return reading(words, files, require(file))
  const r = await run(words.concat(files))
  if (r.signal) {
    process.kill(process.pid, r.signal)
    return 1
  }
  if (began() || !c.each || r.code === 0) return r.code
  if (files.length > 1) return alone(words, files, r)
  line({ e: 'broken', file: files[0] || '', m: local(r.tail) })
  return r.code
}

main().then(code => process.exit(code), e => {
  console.error(e)
  process.exit(125)
})
