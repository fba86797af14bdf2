// The points: regl-scatterplot, which pans, zooms and finds the point under the mouse. Its own
// renderer draws into a buffer of floats and copies it, which takes most of a frame where WebGL is
// rendered in software; this one draws to the canvas directly.
import createREGL from 'regl';
import createScatterplot from 'regl-scatterplot';
import { channels } from './colours.js';

const NEAREST = 1 / 400; // distance of the closest view; 1 shows the height of the data
const FARTHEST = 4;

function directRenderer(canvas) {
  // An opaque canvas is put behind the labels faster than one with an alpha channel.
  const gl = canvas.getContext('webgl', { antialias: false, alpha: false });
  if (!gl) throw new Error('no WebGL');
  const regl = createREGL({ gl, extensions: ['OES_texture_float', 'OES_element_index_uint'] });
  const draws = new Set();
  regl.frame(() => draws.forEach((draw) => draw()));
  return {
    paper: [1, 1, 1, 1],
    canvas, regl, gamma: 1, isSupported: true, isDestroyed: false,
    onFrame(draw) {
      draws.add(draw);
      return () => draws.delete(draw);
    },
    render(draw) {
      regl.poll();
      regl.clear({ color: this.paper });
      draw();
    },
    refresh: () => regl.poll(),
    resize() {},
    destroy: () => regl.destroy(),
  };
}

export class Chart {
  constructor(canvas, data, codes) {
    this.canvas = canvas;
    this.data = data;
    const { n } = data;
    this.renderer = directRenderer(canvas);
    this.plot = createScatterplot({
      canvas, renderer: this.renderer, colorBy: 'valueA', syncEvents: true,
      actionKeyMap: {}, deselectOnEscape: false, deselectOnDblClick: false, cameraTarget: [0, 0],
      pointSize: n > 40000 ? 2.5 : n > 12000 ? 3.5 : n > 3000 ? 4.5 : n > 800 ? 6 : 8,
      pointScaleMode: 'constant',
      opacity: n > 8000 ? 0.8 : 0.9, pointOutlineWidth: 0, pointSizeSelected: 0,
    });
    this.ends = ends(data);
    this.plot.set({ cameraView: this.viewOf(...this.home) });
    this.drawn = this.plot.draw({ x: data.x, y: data.y, valueA: Float32Array.from(codes) }, { zDataType: 'categorical' });
  }

  on(event, handler) {
    this.plot.subscribe(event, handler);
  }

  paint(palette, paper) {
    this.renderer.paper = [...channels(paper).map((value) => value / 255), 1];
    this.plot.set({ pointColor: palette, backgroundColor: paper });
  }

  get size() {
    return [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  // x and y on the screen, in CSS pixels, are a·x + c·y + e and b·x + d·y + f.
  get transform() {
    const [width, height] = this.size;
    const view = this.plot.get('cameraView');
    const [across, down] = [height / 2, -height / 2]; // the data are as wide as they are high
    return [across * view[0], down * view[1], across * view[4], down * view[5],
      across * view[12] + width / 2, down * view[13] + height / 2];
  }

  screen(i) {
    const [a, b, c, d, e, f] = this.transform;
    const { x, y } = this.data;
    return [a * x[i] + c * y[i] + e, b * x[i] + d * y[i] + f];
  }

  // The target and the distance that show all words, less outliers.
  get home() {
    const [width, height] = this.size;
    const [across, down] = this.ends.map(([low, high]) => Math.max(high - low, 0.04) / 2);
    const target = this.ends.map(([low, high]) => (low + high) / 2);
    return [target, Math.max((across * height) / (width || height), down) * 1.1];
  }

  get distance() {
    return 1 / this.plot.get('cameraView')[5];
  }

  viewOf(target, distance) {
    const s = 1 / Math.min(FARTHEST, Math.max(NEAREST, distance));
    return new Float32Array([s, 0, 0, 0, 0, s, 0, 0, 0, 0, 1, 0, -s * target[0], -s * target[1], 0, 1]);
  }

  get centre() {
    const view = this.plot.get('cameraView');
    return [-view[12] / view[0], -view[13] / view[5]];
  }

  // Show a place; in steps unless the reader prefers no motion.
  go(target, distance, steps = 14) {
    cancelAnimationFrame(this.flight);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const [from, far] = [this.centre, this.distance];
    const total = still ? 1 : steps;
    let step = 0;
    const next = () => {
      const t = ++step / total;
      const share = t * t * (3 - 2 * t);
      const at = from.map((v, k) => v + share * (target[k] - v));
      this.plot.set({ cameraView: this.viewOf(at, far * (distance / far) ** share) });
      if (step < total) this.flight = requestAnimationFrame(next);
    };
    next();
  }

  zoom(factor, at) {
    const distance = Math.min(FARTHEST, Math.max(NEAREST, this.distance / factor));
    const share = at ? 1 - distance / this.distance : 0;
    const target = this.centre.map((v, k) => v + share * ((at ?? this.centre)[k] - v));
    this.go(target, distance, at ? 1 : 6);
  }

  pan(across, down, steps = 4) {
    const reach = this.distance;
    const [x, y] = this.centre;
    this.go([x + across * reach, y - down * reach], reach, steps);
  }

  place(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const scale = (2 * this.distance) / box.height;
    const [x, y] = this.centre;
    return [x + (clientX - box.left - box.width / 2) * scale, y - (clientY - box.top - box.height / 2) * scale];
  }

  reset() {
    this.go(...this.home);
  }
}

// The ends of all words on each axis, less the outermost two hundredths where these are far out.
function ends({ x, y, n }) {
  return [x, y].map((axis) => {
    const sorted = Float32Array.from(axis).sort();
    const [low, high] = [0.01, 0.99].map((share) => sorted[Math.round(share * (n - 1))]);
    const room = 0.15 * (high - low);
    return [Math.max(sorted[0], low - room), Math.min(sorted[n - 1], high + room)];
  });
}
