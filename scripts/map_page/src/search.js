// Search with completion: words that begin with the query first, then those that contain it, each in
// their order. Texts are set as text, never as HTML.

const MOST = 12;
const folded = (text) => text.normalize('NFC').toLowerCase();

export function matches(words, query) {
  const [begin, contain] = [[], []];
  for (let i = 0; i < words.length && begin.length < MOST; i++) {
    const at = words[i].indexOf(query);
    if (at === 0) begin.push(i);
    else if (at > 0 && contain.length < MOST) contain.push(i);
  }
  const exact = words.indexOf(query);
  const found = [...begin, ...contain].filter((i) => i !== exact);
  return (exact < 0 ? found : [exact, ...found]).slice(0, MOST);
}

export class Search {
  constructor(words, choose, leave) {
    this.names = words;
    this.words = words.map(folded);
    this.choose = choose;
    this.input = document.getElementById('query');
    this.list = document.getElementById('matches');
    this.found = [];
    this.input.addEventListener('input', () => this.show());
    this.input.addEventListener('focus', () => this.input.value && this.show());
    this.input.addEventListener('blur', () => setTimeout(() => this.close(), 150));
    this.input.addEventListener('keydown', (event) => this.key(event, leave));
  }

  show() {
    const query = folded(this.input.value.trim());
    if (!query) return this.close();
    this.found = matches(this.words, query);
    const rows = this.found.map((i, k) => {
      const row = document.createElement('li');
      row.id = `match${k}`;
      row.setAttribute('role', 'option');
      row.textContent = this.names[i];
      row.addEventListener('mousedown', (event) => {
        event.preventDefault();
        this.take(k);
      });
      return row;
    });
    if (!rows.length) {
      const none = document.createElement('li');
      none.className = 'none';
      none.textContent = 'no word on this map contains this';
      rows.push(none);
    }
    this.list.replaceChildren(...rows);
    this.list.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
    this.mark(this.found.length ? 0 : -1);
  }

  mark(k) {
    this.at = k;
    this.found.forEach((_, row) => this.list.children[row].setAttribute('aria-selected', String(row === k)));
    if (k < 0) this.input.removeAttribute('aria-activedescendant');
    else {
      this.input.setAttribute('aria-activedescendant', `match${k}`);
      this.list.children[k].scrollIntoView({ block: 'nearest' });
    }
  }

  key(event, leave) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.found.length) {
      if (this.list.hidden) this.show();
      else this.mark((this.at + step + this.found.length) % this.found.length);
    } else if (event.key === 'Enter' && !this.list.hidden && this.at >= 0) this.take(this.at);
    else if (event.key === 'Escape') {
      if (this.list.hidden) leave();
      else this.close();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  }

  take(k) {
    const word = this.found[k];
    this.input.value = this.names[word];
    this.close();
    this.choose(word);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }
}
