'use strict';
// What every part of the page uses. Text from a run comes from models, documents and files that are
// not trusted: it becomes a text node or an attribute, never markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === '') continue;
    node.append(child instanceof Node ? child : visible(String(child)));
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Control characters and those that turn the direction of writing are shown as what they are.
function visible(text) {
  return text.replace(/\r\n/g, '\n').replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (c) => {
        const code = c.charCodeAt(0);
        return code < 0x100 ? '\\x' + code.toString(16).padStart(2, '0') :
                              '\\u' + code.toString(16).padStart(4, '0');
      });
}

const UNKNOWN = '\u2013';

function known(value) {
  return value !== null && value !== undefined;
}

function count(n) {
  return known(n) ? n.toLocaleString('en-US') : UNKNOWN;
}

function fixed(value, decimals) {
  if (!known(value)) return UNKNOWN;
  const options = {minimumFractionDigits: decimals, maximumFractionDigits: decimals};
  return value.toLocaleString('en-US', options);
}

function seconds(ms) {
  return known(ms) ? fixed(ms / 1000, 2) : UNKNOWN;
}

// The unit fits the size.
function duration(ms) {
  if (!known(ms)) return UNKNOWN;
  if (ms < 1) return fixed(ms, 2) + ' ms';
  if (ms < 1000) return fixed(ms, ms < 10 ? 1 : 0) + ' ms';
  if (ms < 120000) return fixed(ms / 1000, ms < 10000 ? 2 : 1) + ' s';
  const s = Math.round(ms / 1000);
  if (s < 7200) return Math.floor(s / 60) + ' min ' + String(s % 60).padStart(2, '0') + ' s';
  return Math.floor(s / 3600) + ' h ' + String(Math.floor(s / 60) % 60).padStart(2, '0') + ' min';
}

function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; n >= 1024 && i + 1 < units.length; ++i) n /= 1024;
  return fixed(n, i === 0 ? 0 : 1) + ' ' + units[i];
}

function percent(part, whole) {
  return whole > 0 ? fixed(100 * part / whole, 1) + ' %' : UNKNOWN;
}

function plural(n, noun) {
  return count(n) + ' ' + noun + (n === 1 ? '' : 's');
}

// What fits into `room` pixels at about `size` pixels a letter; the whole text is in the title.
function shorten(text, room, size) {
  const most = Math.max(3, Math.floor(room / size));
  const letters = Array.from(visible(text));
  return letters.length <= most ? letters.join('') : letters.slice(0, most - 1).join('') + '\u2026';
}

// Round steps (1, 2 or 5 of a power of ten) that cut [0, end] into at most `most` parts.
function steps(end, most) {
  if (!(end > 0)) return [0];
  const raw = end / Math.max(1, most);
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= raw * 0.999);
  const out = [];
  for (let i = 0; i * step <= end * 1.0001; ++i) out.push(i * step);
  return out;
}

// Draws now and whenever the width of `host` changes.
function drawn(host, draw) {
  let width = 0;
  const redraw = () => {
    const now = Math.floor(host.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    draw(width);
  };
  redraw();
  new ResizeObserver(redraw).observe(host);
}

function section(id) {
  return document.getElementById(id);
}

// Where an agent's answer stands.
function answerId(index) {
  return 'answer-' + index;
}

// The places in which a document is read, at least one: of one that nobody reads it is the document.
function readingsOf(document) {
  return document.readings.length > 0 ? document.readings : [document];
}

// Of several places they tell what stands in front.
function readingName(document, reading) {
  return document.name + (document.readings.length > 1 && reading.after ? ' after ' + reading.after : '');
}

// Of a document's files the one that its state came from.
function restoredFile(document) {
  const s = document.snapshot;
  if (document.source !== 'restored' || !s) return null;
  const files = s.files.length > 0 ? s.files : [s];
  return files.reduce((best, file) => file.state === 'restored' && (!best || file.n_tokens > best.n_tokens) ?
                                          file : best, null);
}

// What became of a document's snapshots, a text each. `several`: more documents than this one.
function snapshotTexts(document, several) {
  const s = document.snapshot;
  if (!s) return [];
  const files = s.files.length > 0 ? s.files : [s];
  return files.map((file) => {
    const names = file.documents && file.documents.length > 0 ? file.documents : [document.name];
    return (several ? names.join(' + ') + ': ' : '') + snapshotText(file);
  });
}

function snapshotText(s) {
  if (s.state === 'rejected') return s.state + (s.path ? ' ' + s.path : '') + (s.reason ? ': ' + s.reason : '');
  if (s.state !== 'restored' && s.state !== 'saved') {
    return (s.state === 'skipped' ? 'not saved' : s.state) + (s.reason ? ': ' + s.reason : '');
  }
  const file = s.path ? (s.state === 'saved' ? ' to ' : ' from ') + s.path : '';
  const size = [known(s.size_bytes) ? bytes(s.size_bytes) : null, known(s.ms) ? duration(s.ms) : null]
                   .filter(known).join(', ');
  return s.state + (known(s.n_tokens) ? ' ' + plural(s.n_tokens, 'token') : '') + file +
      (size ? ' (' + size + ')' : '') + (s.reason ? '; note: ' + s.reason : '');
}

function endOf(agent) {
  if (agent.status !== 'finished') return agent.status;
  if (agent.truncated) return 'cut at ' + count(agent.sampling ? agent.sampling.max_tokens : null);
  return agent.finish_reason || 'done';
}

function toneOf(agent) {
  if (agent.status === 'failed') return 'bad';
  if (agent.status !== 'finished' || agent.truncated) return 'odd';
  return 'good';
}
