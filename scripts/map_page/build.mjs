// Build wordgeom/plot/assets/map.html: the page with its script, style and licences inside. Python
// puts a title and data into it. The licences are those of all packages in the script.
import { build } from 'esbuild';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(fileURLToPath(import.meta.url)));
const common = { bundle: true, minify: true, write: false, charset: 'utf8', legalComments: 'none' };
const script = await build({
  ...common, entryPoints: ['src/main.js'], format: 'iife', target: 'es2020',
});
const style = await build({ ...common, entryPoints: ['src/page.css'] });

// All packages but esbuild: the builds of some contain others (and regl-scatterplot's kdbush, which
// is a dependency here for its licence alone).
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const folders = Object.keys(packages).filter((path) => path && !packages[path].dev);
const licences = folders.sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file) throw new Error(`${name} has no licence file`);
  const text = readFileSync(join(folder, file), 'utf8').replace(/\r/g, '').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}).join(`\n${'─'.repeat(72)}\n\n`);

const parts = {
  '{{style}}': style.outputFiles[0].text.trim(),
  '{{licences}}': licences.replace(/&/g, '&amp;').replace(/</g, '&lt;'),
  '{{script}}': script.outputFiles[0].text.trim(),
};
if (/<\/script|<!--/i.test(parts['{{script}}'])) throw new Error('the script would end its element');
const page = readFileSync('src/page.html', 'utf8').replace(/\{\{(?:style|licences|script)\}\}/g, (part) => parts[part]);
const assets = '../../wordgeom/plot/assets';
writeFileSync(`${assets}/map.html`, page);
writeFileSync(`${assets}/LICENCES.txt`, licences);
console.log(`${assets}/map.html: ${(page.length / 1024).toFixed(0)} KB, ${folders.length} packages`);
