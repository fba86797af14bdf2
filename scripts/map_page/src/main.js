// The page of `wordgeom plot map`: connects data, points, labels, search, panel and keys.
import { Chart } from './chart.js';
import { Colours } from './colours.js';
import { readData } from './data.js';
import { Labels } from './labels.js';
import { neighboursOf, showLegend, showWord } from './panel.js';
import { Search } from './search.js';

const CLOSE = 0.12; // distance of the view to which the search goes
const byId = (id) => document.getElementById(id);
const data = readData();
const colours = new Colours(data);
const root = document.documentElement;
const state = { selected: -1, near: [], hovered: -1, crosshair: false };
let chart;
let labels;
let dark = matchMedia('(prefers-color-scheme: dark)').matches;

byId('title').textContent = data.title;
byId('note').textContent = data.note;

function drawLabels() {
  labels?.draw(state);
}

function select(i, how = 'stay') {
  state.selected = i;
  state.near = i < 0 ? [] : neighboursOf(data, i);
  showWord(data, colours, i, (row) => select(row, 'show'));
  if (chart && i >= 0) {
    const [x, y] = chart.screen(i);
    const [width, height] = chart.size;
    const inside = x > 40 && y > 20 && x < width - 40 && y < height - 20;
    if (how === 'find' || (how === 'show' && !inside)) {
      chart.go([data.x[i], data.y[i]], how === 'find' ? Math.min(chart.distance, CLOSE * chart.home[1]) : chart.distance);
    }
  }
  drawLabels();
}

const paintLegend = showLegend(colours, () => paint());

function paint() {
  root.dataset.theme = dark ? 'dark' : 'light';
  paintLegend(dark);
  chart?.paint(colours.palette(dark), dark ? '#14171c' : '#ffffff');
  drawLabels();
}

function nearestToCentre() {
  const [x, y] = chart.centre;
  let [best, least] = [-1, Infinity];
  for (let i = 0; i < data.n; i++) {
    const away = (data.x[i] - x) ** 2 + (data.y[i] - y) ** 2;
    if (away < least && colours.shows(i)) [best, least] = [i, away];
  }
  return best;
}

const search = new Search(data.words, (i) => {
  select(i, 'find');
}, () => byId('map').focus());

const KEYS = {
  '/': () => { search.input.focus(); search.input.select(); },
  '+': () => chart?.zoom(1.5), '=': () => chart?.zoom(1.5),
  '-': () => chart?.zoom(1 / 1.5), '−': () => chart?.zoom(1 / 1.5),
  0: () => chart?.reset(), Home: () => chart?.reset(),
  ArrowLeft: () => chart?.pan(-0.25, 0), ArrowRight: () => chart?.pan(0.25, 0),
  ArrowUp: () => chart?.pan(0, -0.25), ArrowDown: () => chart?.pan(0, 0.25),
  Escape: () => select(-1), '?': () => byId('about').showModal(),
};
document.addEventListener('keydown', (event) => {
  const elsewhere = event.target.matches?.('input') || byId('about').open;
  const act = KEYS[event.key];
  if (!act || elsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
  act();
  event.preventDefault();
});
byId('map').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && chart) select(nearestToCentre());
});
for (const kind of ['focus', 'blur']) {
  byId('map').addEventListener(kind, () => {
    state.crosshair = byId('map').matches(':focus-visible');
    drawLabels();
  });
}
byId('in').addEventListener('click', KEYS['+']);
byId('out').addEventListener('click', KEYS['-']);
byId('reset').addEventListener('click', KEYS[0]);
byId('help').addEventListener('click', KEYS['?']);
byId('clear').addEventListener('click', () => select(-1));
byId('theme').addEventListener('click', () => {
  dark = !dark;
  paint();
});

function hover(i) {
  state.hovered = i;
  byId('map').classList.toggle('over', i >= 0);
  const tip = byId('tip');
  tip.hidden = i < 0;
  if (i >= 0) {
    tip.textContent = [data.words[i], colours.describe(i)].filter(Boolean).join(' · ');
    const [x, y] = chart.screen(i);
    const [width] = chart.size;
    tip.style.left = `${Math.min(x + 12, width - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(4, y - 34)}px`;
  }
  drawLabels();
}

// regl-scatterplot has no touch: one finger moves the map, two zoom it.
function touch(map) {
  const fingers = new Map();
  const spread = ([one, two]) => Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
  map.addEventListener('pointerdown', (event) => event.pointerType === 'touch' && fingers.set(event.pointerId, event));
  for (const kind of ['pointerup', 'pointercancel']) map.addEventListener(kind, (event) => fingers.delete(event.pointerId));
  map.addEventListener('pointermove', (event) => {
    const old = fingers.get(event.pointerId);
    if (!old) return;
    const before = [...fingers.values()];
    fingers.set(event.pointerId, event);
    const after = [...fingers.values()];
    if (after.length === 1) {
      const unit = 2 / chart.size[1];
      chart.pan((old.clientX - event.clientX) * unit, (old.clientY - event.clientY) * unit, 1);
    } else {
      const middle = ['clientX', 'clientY'].map((axis) => (after[0][axis] + after[1][axis]) / 2);
      chart.zoom(spread(after) / (spread(before) || 1), chart.place(...middle));
    }
  });
}

async function start() {
  chart = new Chart(byId('points'), data, colours.codes);
  labels = new Labels(byId('labels'), chart, data, colours);
  await chart.drawn;
  chart.on('view', drawLabels);
  chart.on('pointOver', hover);
  chart.on('pointOut', () => hover(-1));
  chart.on('select', ({ points }) => {
    chart.plot.deselect({ preventEvent: true });
    select(points[0]);
  });
  new ResizeObserver(() => {
    chart.plot.set({ width: 'auto', height: 'auto' });
    requestAnimationFrame(() => requestAnimationFrame(drawLabels));
  }).observe(byId('map'));
  touch(byId('map'));
  paint();
}

// For tests and measurements: the words with labels, the view, and the median frame in milliseconds.
async function frames(count) {
  const times = [];
  let last = performance.now();
  for (let k = 0; k < count; k++) {
    chart.pan(k % 20 < 10 ? 0.02 : -0.02, 0, 1);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times.sort((one, other) => one - other)[count >> 1];
}
paint();
window.wordMap = {
  state, data, frames,
  ready: start().catch(() => { chart = labels = undefined; byId('failure').hidden = false; }),
  labels: () => labels.shown.map((i) => data.words[i]),
  view: () => ({ centre: chart.centre, distance: chart.distance }),
  screen: (word) => chart.screen(data.words.indexOf(word)),
};
