// Installs a workspace. Arguments: its folder, a folder of programs for PATH, ways to do it as JSON: lists of words, of which the first
// that works is enough. What no registry has is taken out of the manifests before the second.
const fs = require('fs')
const path = require('path')
const { spawnSync } = require('child_process')
const [dir, bin, ways] = process.argv.slice(1)

process.env.PATH = bin + path.delimiter + process.env.PATH
const prefix = path.dirname(path.dirname(fs.realpathSync(process.execPath)))
if (fs.existsSync(path.join(prefix, 'include/node/node.h'))) process.env.npm_config_nodedir = prefix

const elsewhere = /^(?:git\+|git:|git@|github:|gitlab:|bitbucket:|https?:|[\w.-]+\/[\w.-]+(?:#|$))/

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

let code = 1
const list = JSON.parse(ways)
for (let i = 0; i < list.length; i++) {
  if (i > 0) loosen(dir)
  console.log('sluice: ' + list[i].join(' '))
  const r = spawnSync(list[i][0], list[i].slice(1), { cwd: dir, stdio: 'inherit' })
  code = r.status === null ? 1 : r.status
  if (code === 0) break
  console.log('sluice: that did not install everything: exit ' + code + (r.error ? ' ' + r.error.message : ''))
}
if (code === 0) fs.rmSync(path.join(dir, '../store'), { recursive: true, force: true })
if (code === 0) fs.mkdirSync(path.join(dir, 'node_modules'), { recursive: true })
process.exit(code)
