// Copies what Install sees of a workspace to where it is installed. Arguments: from, to. The packages' own life-cycle scripts are left
// out of the copies: they would build sources that are not there.
const fs = require('fs')
const path = require('path')
const [from, to] = process.argv.slice(1)
const own = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare', 'prepublishOnly', 'prepack',
  'postpack', 'dependencies']

function copy(a, b) {
  const stat = fs.lstatSync(a)
  if (stat.isDirectory()) {
    fs.mkdirSync(b, { recursive: true })
    for (const name of fs.readdirSync(a)) if (name !== 'node_modules') copy(path.join(a, name), path.join(b, name))
  } else if (path.basename(a) === 'package.json') {
    fs.writeFileSync(b, manifest(fs.readFileSync(a, 'utf8')))
  } else if (stat.isFile()) {
    fs.copyFileSync(a, b)
  }
}

function manifest(text) {
  try {
    const m = JSON.parse(text.replace(/^\uFEFF/, ''))
    for (const s of own) if (m.scripts) delete m.scripts[s]
    return JSON.stringify(m, null, 2) + '\n'
  } catch (e) {
    return text
  }
}

copy(from, to)
