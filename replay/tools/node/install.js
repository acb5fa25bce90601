// Installs a workspace. Arguments: its folder; a folder of programs for PATH; the folder of the node that the packages' own scripts run on, or
// "" for the one that runs this; ways to do it as JSON: lists of words, of which the first that works is enough. What no registry has is
// taken out of the manifests before the second.
const fs = require('fs')
const os = require('os')
const path = require('path')
const { execFileSync, spawnSync } = require('child_process')
const [dir, bin, home, ways] = process.argv.slice(1)

process.env.PATH = bin + path.delimiter + process.env.PATH
const prefix = path.dirname(path.dirname(fs.realpathSync(home ? home + '/bin/node' : process.execPath)))
if (fs.existsSync(path.join(prefix, 'include/node/node.h'))) process.env.npm_config_nodedir = prefix

// shim makes a folder with a node that is the one in home, but for node-gyp: ours is for all, since that of an old manager wants a Python
// that nobody has.
function shim() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'node-'))
  const gyp = path.join(home, 'node_modules/node-gyp/bin/node-gyp.js')
  const [node, script, other] = [process.execPath, gyp, home + '/bin/node'].map(s => "'" + s.replace(/'/g, "'\\''") + "'")
  const text = `#!/bin/sh
case "$1" in */node-gyp.js) shift; exec ${node} ${script} "$@";; esac
exec ${other} "$@"
`
  fs.writeFileSync(path.join(folder, 'node'), text, { mode: 0o755 })
  return folder
}

const elsewhere = /^(?:[\^~=]?\d+\.\d+\.\d+-security(?:\.\d+)?$|git\+|git:|git@|github:|gitlab:|bitbucket:|https?:|[\w.-]+\/[\w.-]+(?:#|$))/

function loosen(folder) {
  for (const f of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, f.name)
    if (f.isDirectory() && f.name === 'node_modules') fs.rmSync(name, { recursive: true, force: true })
    else if (f.isDirectory()) loosen(name)
    else if (f.name === 'package.json') loosenManifest(name)
  }
}

function loosenManifest(name) {
  let m
  try {
    m = JSON.parse(fs.readFileSync(name, 'utf8'))
  } catch (e) {
    return
  }
  for (const key of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    for (const dep of Object.keys(m[key] || {})) {
      if (!elsewhere.test(m[key][dep])) continue
      console.log('sluice: ' + dep + ' comes from no registry and is left out')
      delete m[key][dep]
    }
  }
  fs.writeFileSync(name, JSON.stringify(m, null, 2) + '\n')
}

function filesOf(folder) {
  if (!fs.existsSync(folder)) return []
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((f) => {
    const name = path.join(folder, f.name)
    return f.isDirectory() ? filesOf(name) : [name]
  })
}

// published is when versions were published, by package, as far as the registry said so in the answers that npm keeps.
function published(cache) {
  const times = new Map()
  for (const index of filesOf(path.join(cache, '_cacache/index-v5'))) {
    for (const line of fs.readFileSync(index, 'utf8').split('\n')) {
      try {
        const { key, integrity } = JSON.parse(line.slice(line.indexOf('\t') + 1))
        if (key.endsWith('.tgz')) continue
        const hex = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
        const answer = path.join(cache, '_cacache/content-v2/sha512', hex.slice(0, 2), hex.slice(2, 4), hex.slice(4))
        const { name, time } = JSON.parse(fs.readFileSync(answer, 'utf8'))
        if (time) times.set(name, time)
      } catch (e) {
        continue // no answer about a package
      }
    }
  }
  return times
}

// undated lists what was installed of which the registry does not say that it is of before a day: npm takes what has no time.
function undated(before) {
  const lock = path.join(dir, 'node_modules/.package-lock.json')
  if (!fs.existsSync(lock)) return fs.existsSync(path.join(dir, 'node_modules')) ? ['all'] : []
  const times = published(process.env.npm_config_cache)
  const list = []
  for (const [place, p] of Object.entries(JSON.parse(fs.readFileSync(lock, 'utf8')).packages)) {
    if (p.link || p.inBundle || !/^https?:/.test(p.resolved || '')) continue
    const name = p.name || place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const time = (times.get(name) || {})[p.version]
    if (!(Date.parse(time) <= Date.parse(before))) list.push(name + ' ' + p.version)
  }
  return list
}

if (home) {
  process.env.npm_config_target = execFileSync(home + '/bin/node', ['-p', 'process.versions.node']).toString().trim()
  process.env.PATH = [shim(), home + '/bin', process.env.PATH].join(path.delimiter)
}

let code = 1
let chosen = false // by npm, and not by a lock file
const list = JSON.parse(ways)
for (let i = 0; i < list.length; i++) {
  if (i > 0) loosen(dir)
  console.log('sluice: ' + list[i].join(' '))
  const r = spawnSync(list[i][0], list[i].slice(1), { cwd: dir, stdio: 'inherit' })
  code = r.status === null ? 1 : r.status
  chosen = list[i][0] === 'npm' && list[i][1] === 'install'
  if (code === 0) break
  console.log('sluice: that did not install everything: exit ' + code + (r.error ? ' ' + r.error.message : ''))
}
const before = process.env.npm_config_before
const late = code === 0 && chosen && before ? undated(before) : []
if (late.length > 0) {
  console.log('sluice: the registry does not tell that these were published before ' + before + ': ' + late.slice(0, 20).join(', '))
  code = 1
}
if (code === 0) fs.rmSync(path.join(dir, '../store'), { recursive: true, force: true })
if (code === 0) fs.mkdirSync(path.join(dir, 'node_modules'), { recursive: true })
process.exit(code)
