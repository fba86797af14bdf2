// Colours of words: categories have those of Okabe and Ito, then lighter and darker ones; numbers
// have 64 steps of cividis. The last colour is that of words without a value.

const HUES = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#56b4e9', '#cc79a7', '#c9b800', '#6b4c9a'];
const CIVIDIS = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838'];
const STEPS = 64;

export const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const hex = (rgb) => `#${rgb.map((v) => Math.round(v).toString(16).padStart(2, '0')).join('')}`;
const mix = (one, other, share) => {
  const to = channels(other);
  return hex(channels(one).map((v, k) => v + share * (to[k] - v)));
};

function ofCategory(k, dark) {
  const shade = Math.floor(k / HUES.length) % 4;
  const hue = dark ? mix(HUES[k % HUES.length], '#ffffff', 0.18) : HUES[k % HUES.length];
  return [hue, mix(hue, '#000000', 0.4), mix(hue, '#ffffff', 0.45), mix(hue, '#808080', 0.55)][shade];
}

function ofShare(share, dark) {
  const at = (dark ? 0.2 + 0.8 * share : share) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return mix(CIVIDIS[low], CIVIDIS[low + 1], at - low);
}

export class Colours {
  constructor(data) {
    this.column = data.colour;
    const { codes, values, low, high, categories } = this.column ?? {};
    this.count = categories ? categories.length : values ? STEPS : 1;
    this.codes = new Uint8Array(data.n).fill(this.column ? this.count : 0);
    if (codes) this.codes = codes.map((code) => Math.min(code, this.count));
    values?.forEach((value, i) => {
      if (!Number.isNaN(value)) {
        this.codes[i] = Math.round(((value - low) / (high - low || 1)) * (STEPS - 1));
      }
    });
    this.chosen = new Set(); // categories that the reader chose; all where it is empty
  }

  shows(i) {
    return !this.chosen.size || this.chosen.has(this.codes[i]);
  }

  toggle(code) {
    if (!this.chosen.delete(code)) this.chosen.add(code);
  }

  one(code, dark) {
    const grey = dark ? '#59606b' : '#b8b8b8';
    if (code === this.count) return grey;
    return this.column?.values ? ofShare(code / (STEPS - 1), dark) : ofCategory(code, dark);
  }

  palette(dark) {
    const faint = dark ? '#262b33' : '#ececec';
    return Array.from({ length: this.count + 1 }, (_, code) =>
      this.chosen.size && !this.chosen.has(code) ? faint : this.one(code, dark));
  }

  gradient(dark) {
    return `linear-gradient(90deg, ${CIVIDIS.map((_, k) => ofShare(k / (CIVIDIS.length - 1), dark)).join()})`;
  }

  describe(i) {
    if (!this.column) return '';
    if (this.codes[i] === this.count) return `not in ${this.column.name}`;
    return this.column.values
      ? `${this.column.name}: ${Number(this.column.values[i].toPrecision(6))}`
      : this.column.categories[this.codes[i]];
  }
}
