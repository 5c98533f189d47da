// Who ran, how it ended, the numbers that matter first, and on what it ran.

function countsText(counts) {
  const parts = ['finished', 'failed', 'skipped', 'cancelled']
                    .filter((name) => counts[name] > 0)
                    .map((name) => count(counts[name]) + ' ' + name);
  if (counts.truncated > 0) parts.push(count(counts.truncated) + ' cut');
  return parts.join(' \u00b7 ') || 'no agents';
}

function commandText(words) {
  const quoted = words.map((word) => /^[\w./:=,@%+-]+$/.test(word) ? word : '"' + word + '"');
  return ['swarmkv', ...quoted].join(' ');
}

function tile(value, label, note) {
  return el('div', {class: 'tile'}, el('div', {class: 'value'}, value),
            el('div', {class: 'label'}, label), note ? el('div', {class: 'note'}, note) : null);
}

function tiles(report) {
  const s = report.summary;
  const load = report.model.load_ms;
  return el(
      'div', {class: 'tiles'},
      tile(duration(s.duration_ms), 'whole run', load >= 50 ? '+ ' + duration(load) + ' model load' : ''),
      tile(plural(report.agents.length, 'agent'), countsText(s.counts)),
      tile(percent(s.prompt_tokens_reused, s.prompt_tokens), 'of prompt tokens reused',
           count(s.prompt_tokens_computed) + ' of ' + count(s.prompt_tokens) + ' computed'),
      tile(duration(s.ttft_ms.p50), 'median time to first token',
           'longest ' + duration(s.ttft_ms.max)),
      tile(fixed(s.output_throughput_tok_s, 1), 'output tokens per second',
           count(s.completion_tokens) + ' written'),
      tile(fixed(s.mean_decode_batch, 1), 'agents in a batch, mean',
           count(s.forward_steps) + ' forwards'));
}

function facts(data) {
  const r = data.report;
  const peak = r.summary.peak;
  const rows = [
    ['model', data.model_name || r.model.path],
    ['file', data.model_name ? r.model.path : null],
    ['parameters', known(r.model.n_params) ? count(r.model.n_params) : null],
    ['quantisation', r.model.quant],
    ['fingerprint', r.model.fingerprint],
    ['device', r.device],
    ['KV pool', known(r.ctx_size) ?
        count(r.ctx_size) + ' cells, at most ' + count(peak.kv_cells) + ' in use' : null],
    ['KV types', [r.cache_type_k, r.cache_type_v].filter(known).join(' / ')],
    ['hand-off', r.handoff],
    ['attention', r.attention_note ? r.attention + ' (' + r.attention_note + ')' : r.attention],
    ['memory', known(peak.rss_bytes) ? bytes(peak.rss_bytes) : null],
    ['versions', 'swarmkv ' + r.versions.swarmkv + ', llama.cpp ' + r.versions.llama_cpp],
    ['run', r.run_id],
  ];
  for (const d of r.documents) {
    for (const reading of readingsOf(d)) {
      rows.push(['document', readingName(d, reading) + ', ' +
          (known(reading.n_tokens) ? count(reading.n_tokens) + ' tokens' : reading.source) +
          (d.digest ? ', ' + d.digest : '')]);
    }
  }
  // A file of several documents stands at each of them.
  const several = r.documents.length > 1;
  for (const text of new Set(r.documents.flatMap((d) => snapshotTexts(d, several)))) rows.push(['snapshot', text]);
  return el('details', {class: 'facts'}, el('summary', {}, 'Machine, model, documents'),
            el('dl', {}, rows.filter(([, value]) => value).map(
                ([label, value]) => [el('dt', {}, label), el('dd', {}, value)])));
}

function drawHeader(data) {
  const r = data.report;
  const tone = r.exit_code === 0 ? 'good' : r.status === 'finished' ? 'odd' : 'bad';
  document.title = visible(r.name) + ' \u00b7 SwarmKV run';
  const where = [data.model_name || r.model.path, r.model.quant, r.device, r.started_at]
                    .filter(known).join(' \u00b7 ');
  fill(section('head'), {}, [
    el('div', {class: 'title'}, el('h1', {}, r.name),
       el('span', {class: 'chip ' + tone}, r.status + (r.exit_code ? ', exit code ' + r.exit_code : ''))),
    el('p', {class: 'where'}, where),
    r.command.length > 0 ? el('p', {class: 'command'}, el('code', {}, commandText(r.command))) : null,
    tiles(r),
    facts(data),
  ]);
}

function drawWarnings(report) {
  const host = section('warnings');
  if (report.warnings.length === 0) return;
  host.hidden = false;
  host.append(el('ul', {}, report.warnings.map((w) => el('li', {},
      w.agent ? el('b', {}, w.agent + ': ') : null, w.message,
      w.pos ? el('span', {class: 'muted'}, ' ' + w.pos) : null,
      w.code ? el('span', {class: 'muted'}, ' ' + w.code) : null,
      w.hint ? el('div', {class: 'muted'}, 'help: ' + w.hint) : null))));
}
