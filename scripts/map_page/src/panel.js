// The panel: the chosen word with its neighbours, and the legend. Texts are set as text.

const byId = (id) => document.getElementById(id);

function button(...parts) {
  const row = document.createElement('li');
  const made = document.createElement('button');
  made.append(...parts.map((part) => {
    if (part instanceof Node) return part;
    const span = document.createElement('span');
    span.textContent = part;
    return span;
  }));
  row.append(made);
  return [row, made];
}

export function neighboursOf(data, i) {
  if (!data.near) return [];
  const { k, rows } = data.near;
  return Array.from(rows.subarray(i * k, (i + 1) * k)).filter((row) => row < data.n);
}

export function showWord(data, colours, i, choose) {
  byId('word').hidden = i < 0;
  if (i < 0) return;
  byId('name').textContent = data.words[i];
  const facts = [`word ${(i + 1).toLocaleString('en')} of ${data.n.toLocaleString('en')}`, colours.describe(i)];
  byId('facts').textContent = facts.filter(Boolean).join(' · ');
  byId('measure').textContent = data.near ? data.measure : '';
  byId('neighbours').replaceChildren(...neighboursOf(data, i).map((row, k) => {
    const { values, cosine } = data.near;
    const value = values[i * data.near.k + k];
    const [item, made] = button(data.words[row], cosine ? (value / 127.5 - 1).toFixed(2) : '');
    made.addEventListener('click', () => choose(row));
    return item;
  }));
}

export function showLegend(colours, change) {
  const { column } = colours;
  if (!column) return () => {};
  byId('legend').hidden = false;
  byId('column').textContent = column.name;
  const swatches = [];
  if (column.values) {
    byId('scale').hidden = false;
    byId('low').textContent = Number(column.low.toPrecision(4));
    byId('high').textContent = Number(column.high.toPrecision(4));
  } else {
    const counts = new Uint32Array(colours.count + 1);
    for (const code of colours.codes) counts[code]++;
    const names = [...column.categories, 'not in the file'];
    const rows = names.map((name, code) => {
      const swatch = document.createElement('i');
      swatches.push(swatch);
      const [row, made] = button(swatch, name, counts[code].toLocaleString('en'));
      row.hidden = !counts[code];
      made.setAttribute('aria-pressed', 'false');
      made.addEventListener('click', () => {
        colours.toggle(code);
        made.setAttribute('aria-pressed', String(colours.chosen.has(code)));
        byId('categories').classList.toggle('some', colours.chosen.size > 0);
        change();
      });
      return row;
    });
    byId('categories').replaceChildren(...rows);
  }
  return (dark) => {
    byId('bar').style.background = colours.gradient(dark);
    swatches.forEach((swatch, code) => { swatch.style.background = colours.one(code, dark); });
  };
}
