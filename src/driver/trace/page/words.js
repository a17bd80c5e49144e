// What differs inside of lines that were replaced.

const wordsOf = (line) => line.match(/[A-Za-z0-9_\u0080-\uffff]+|\s+|[^\sA-Za-z0-9_\u0080-\uffff]/g) || [];

// Lengths of common subsequences cost the product of the two lengths: beyond this only the ends are compared.
const MOST_CELLS = 250000;

// Which words of `a` and of `b` belong to a longest common subsequence.
function commonWords(a, b) {
  const keepA = new Uint8Array(a.length);
  const keepB = new Uint8Array(b.length);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) { keepA[head] = keepB[head] = 1; ++head; }
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) {
    ++tail;
    keepA[a.length - tail] = keepB[b.length - tail] = 1;
  }
  const n = a.length - head - tail;
  const m = b.length - head - tail;
  if (n === 0 || m === 0 || n * m > MOST_CELLS) return [keepA, keepB];
  const best = new Uint16Array((n + 1) * (m + 1));
  for (let i = n - 1; i >= 0; --i) {
    for (let j = m - 1; j >= 0; --j) {
      best[i * (m + 1) + j] = a[head + i] === b[head + j] ? best[(i + 1) * (m + 1) + j + 1] + 1
        : Math.max(best[(i + 1) * (m + 1) + j], best[i * (m + 1) + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < n && j < m;) {
    if (a[head + i] === b[head + j]) { keepA[head + i++] = 1; keepB[head + j++] = 1; }
    else if (best[(i + 1) * (m + 1) + j] >= best[i * (m + 1) + j + 1]) ++i;
    else ++j;
  }
  return [keepA, keepB];
}

// The places of the words that are not kept, joined where only white space is between, then cut to the characters that
// differ where one word took the place of one other.
function changedPlaces(words, keep) {
  const out = [];
  let at = 0;
  words.forEach((word, i) => {
    const last = out[out.length - 1];
    if (!keep[i]) {
      if (last && last[1] === at) last[1] += word.length;
      else out.push([at, at + word.length]);
    }
    at += word.length;
  });
  return out;
}

function likeness(keep, words) {
  let kept = 0;
  let all = 0;
  words.forEach((word, i) => {
    if (/^\s/.test(word)) return;
    all += word.length;
    if (keep[i]) kept += word.length;
  });
  return all === 0 ? 1 : kept / all;
}

// Marks for a line that took the place of another: [of the old one, of the new one], or null if they have so little in
// common that marks would only confuse.
const changeCache = new Map();
function changesInside(before, after) {
  const key = before + '\n' + after;
  if (changeCache.has(key)) return changeCache.get(key);
  const a = wordsOf(before);
  const b = wordsOf(after);
  const [keepA, keepB] = commonWords(a, b);
  let out = null;
  if (Math.max(likeness(keepA, a), likeness(keepB, b)) >= 0.35) {
    const old = changedPlaces(a, keepA);
    const fresh = changedPlaces(b, keepB);
    if (old.length === fresh.length) old.forEach((place, i) => narrow(before, place, after, fresh[i]));
    out = [old, fresh].map((places) => places.filter(([x, y]) => x < y).map(([x, y]) => [x, y, 'chg']));
  }
  if (changeCache.size > 20000) changeCache.clear();
  changeCache.set(key, out);
  return out;
}

// Characters that both pieces begin or end with are no change.
function narrow(before, place, after, fresh) {
  let x = place[0];
  let y = fresh[0];
  while (x < place[1] && y < fresh[1] && before[x] === after[y]) { ++x; ++y; }
  let p = place[1];
  let q = fresh[1];
  while (p > x && q > y && before[p - 1] === after[q - 1]) { --p; --q; }
  place[0] = x;
  place[1] = p;
  fresh[0] = y;
  fresh[1] = q;
}

// Which removed lines belong to which added ones: pairs in order. Equal numbers pair one to one; otherwise each takes the
// likeliest of those that are left.
function pairLines(removed, added) {
  if (removed.length === added.length) return removed.map((_, i) => i);
  const out = new Array(removed.length).fill(-1);
  if (removed.length * added.length > 4000) return out.map((_, i) => (i < added.length ? i : -1));
  const bags = added.map((line) => new Set(wordsOf(line).filter((w) => w.trim())));
  let from = 0;
  removed.forEach((line, i) => {
    const words = new Set(wordsOf(line).filter((w) => w.trim()));
    let best = -1;
    let score = 0.5;
    for (let j = from; j < added.length; ++j) {
      let common = 0;
      for (const word of words) common += bags[j].has(word);
      const s = common / Math.max(1, Math.max(words.size, bags[j].size));
      if (s > score) { best = j; score = s; }
    }
    if (best >= 0) { out[i] = best; from = best + 1; }
  });
  return out;
}
