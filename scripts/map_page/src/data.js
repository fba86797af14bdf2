// The data of the page: JSON with words in one string and numbers in base64, as
// wordgeom/plot/map/page.py writes them.

function bytes(base64) {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

// Numbers of `bits` bits each, the highest bit first, without padding in between.
function unpack(packed, bits, count) {
  const out = new Uint32Array(count);
  let held = 0;
  let width = 0;
  for (let i = 0, at = 0; i < count; i++) {
    while (width < bits) {
      held = (held << 8) | packed[at++];
      width += 8;
    }
    width -= bits;
    out[i] = held >>> width;
    held &= (1 << width) - 1;
  }
  return out;
}

export function readData() {
  const raw = JSON.parse(document.getElementById('data').textContent);
  const words = raw.words.split('\n');
  const n = words.length;
  const places = new Uint16Array(bytes(raw.places).buffer);
  const x = new Float32Array(n);
  const y = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    x[i] = places[i] / 32767.5 - 1;
    y[i] = places[n + i] / 32767.5 - 1;
  }
  const { near, colour } = raw;
  if (near) {
    near.rows = unpack(bytes(near.rows), near.bits, n * near.k);
    near.values = new Uint8Array(bytes(near.values));
  }
  if (colour?.codes) colour.codes = bytes(colour.codes);
  if (colour?.values) colour.values = new Float32Array(bytes(colour.values).buffer);
  return { title: raw.title, note: raw.note, measure: raw.measure, words, n, x, y, near, colour };
}
