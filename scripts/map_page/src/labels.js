// The labels, on a canvas above the points: in each tile of the view the first words of the file that
// do not overlap others. Zooming in brings rarer words.

const [TILE_WIDTH, TILE_HEIGHT, IN_TILE] = [96, 36, 1]; // pixels, and labels in a tile
const TRIES = 2500; // words that are tried for a frame
const CELL = 6; // pixels of the grid of occupied places
const HEIGHT = 15;
const GAP = 5; // between a point and its label
const LONGEST = 40; // characters
const FAMILY = "system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif";

class Occupied {
  constructor(width, height) {
    this.columns = Math.ceil(width / CELL);
    this.rows = Math.ceil(height / CELL);
    this.cells = new Uint8Array(this.columns * this.rows);
  }

  // Take a box; false where it is outside or meets one that was taken.
  take(left, top, width, force) {
    const [c0, c1] = [Math.floor(left / CELL), Math.floor((left + width) / CELL)];
    const [r0, r1] = [Math.floor(top / CELL), Math.floor((top + HEIGHT) / CELL)];
    if (c0 < 0 || r0 < 0 || c1 >= this.columns || r1 >= this.rows) return false;
    if (!force) {
      for (let r = r0; r <= r1; r++) {
        for (let c = c0; c <= c1; c++) if (this.cells[r * this.columns + c]) return false;
      }
    }
    for (let r = r0; r <= r1; r++) this.cells.fill(1, r * this.columns + c0, r * this.columns + c1 + 1);
    return true;
  }
}

export class Labels {
  constructor(canvas, chart, data, colours) {
    Object.assign(this, { canvas, chart, data, colours });
    this.pen = canvas.getContext('2d');
    this.widths = new Float32Array(data.n);
    this.shown = []; // words with a label, for tests
  }

  text(i) {
    const word = this.data.words[i];
    return word.length > LONGEST ? `${word.slice(0, LONGEST - 1)}…` : word;
  }

  width(i) {
    if (!this.widths[i]) this.widths[i] = this.pen.measureText(this.text(i)).width;
    return this.widths[i];
  }

  draw({ selected = -1, near = [], hovered = -1, crosshair = false } = {}) {
    const [width, height] = this.chart.size;
    const ratio = window.devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) Object.assign(this.canvas, { width: wide, height: high });
    const style = getComputedStyle(document.documentElement);
    [this.ink, this.paper, this.mark] = ['--ink', '--paper', '--mark'].map((name) => style.getPropertyValue(name));
    const { pen } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.textBaseline = 'middle';
    pen.lineJoin = 'round';
    pen.font = `12.5px ${FAMILY}`;
    this.shown = [];
    this.taken = new Occupied(width, height);
    this.view = this.chart.transform;
    if (selected >= 0) this.lines(selected, near);
    for (const i of [selected, hovered, ...near]) if (i >= 0) this.place(i, i === selected || i === hovered, true);
    this.rest(width, height, new Set([selected, hovered, ...near]));
    if (crosshair) this.cross(width / 2, height / 2);
  }

  rest(width, height, done) {
    const { x, y, n } = this.data;
    const [a, b, c, d, e, f] = this.view;
    const columns = Math.ceil(width / TILE_WIDTH) + 1;
    const tiles = new Uint8Array(columns * (Math.ceil(height / TILE_HEIGHT) + 1));
    for (let i = 0, tries = 0; i < n && tries < TRIES; i++) {
      const left = a * x[i] + c * y[i] + e;
      const top = b * x[i] + d * y[i] + f;
      if (left < 0 || top < 0 || left > width || top > height || done.has(i) || !this.colours.shows(i)) continue;
      const tile = Math.floor(top / TILE_HEIGHT) * columns + Math.floor(left / TILE_WIDTH);
      if (tiles[tile] === IN_TILE) continue;
      tries++;
      if (this.place(i, false, false, left, top)) tiles[tile]++;
    }
  }

  place(i, bold, ring, left = undefined, top = undefined) {
    const [px, py] = left === undefined ? this.chart.screen(i) : [left, top];
    const { pen } = this;
    if (ring) this.ring(px, py, bold);
    const width = this.width(i) * (bold ? 1.12 : 1) + 2;
    const sides = [[px + GAP, py - HEIGHT / 2], [px - GAP - width, py - HEIGHT / 2],
      [px - width / 2, py - GAP - HEIGHT], [px - width / 2, py + GAP]];
    let side = sides.find(([x0, y0]) => this.taken.take(x0, y0, width, false));
    if (!side && bold) side = sides.find(([x0, y0]) => this.taken.take(x0, y0, width, true));
    if (!side) return false;
    if (bold) pen.font = `600 12.5px ${FAMILY}`;
    pen.lineWidth = 3;
    pen.strokeStyle = this.paper;
    pen.fillStyle = this.ink;
    pen.strokeText(this.text(i), side[0] + 1, side[1] + HEIGHT / 2);
    pen.fillText(this.text(i), side[0] + 1, side[1] + HEIGHT / 2);
    if (bold) pen.font = `12.5px ${FAMILY}`;
    this.shown.push(i);
    return true;
  }

  ring(x, y, bold) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(x, y, bold ? 6.5 : 5, 0, 7);
    pen.lineWidth = bold ? 2.5 : 1.5;
    pen.strokeStyle = this.mark;
    pen.stroke();
  }

  lines(selected, near) {
    const { pen } = this;
    const from = this.chart.screen(selected);
    pen.beginPath();
    for (const i of near) {
      pen.moveTo(...from);
      pen.lineTo(...this.chart.screen(i));
    }
    pen.globalAlpha = 0.55;
    pen.lineWidth = 1;
    pen.strokeStyle = this.mark;
    pen.stroke();
    pen.globalAlpha = 1;
  }

  cross(x, y) {
    const { pen } = this;
    pen.beginPath();
    for (const [dx, dy] of [[9, 0], [0, 9]]) {
      pen.moveTo(x - dx, y - dy);
      pen.lineTo(x + dx, y + dy);
    }
    pen.lineWidth = 1.5;
    pen.strokeStyle = this.mark;
    pen.stroke();
  }
}
