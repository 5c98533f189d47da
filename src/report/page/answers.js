// The answers, closed but for a first line; what a model thought before it answered stands apart.

function firstLine(text) {
  const line = text.split('\n').find((each) => each.trim() !== '') || '';
  return shorten(line.trim(), 110, 1);
}

function answerText(agent) {
  if (agent.json !== null) return JSON.stringify(agent.json, null, 2);
  return agent.text;
}

function answerNotes(agent) {
  const notes = [];
  if (agent.needs.length > 0) notes.push('needs ' + agent.needs.join(', '));
  if (agent.continues) notes.push('continues ' + agent.continues);
  if (agent.sampling) {
    notes.push('temperature ' + agent.sampling.temperature + ', seed ' + agent.sampling.seed);
  }
  if (agent.preemptions > 0) notes.push('preempted ' + plural(agent.preemptions, 'time'));
  if (agent.fork_fell_back) notes.push('could not fork where the prefix ended');
  if (agent.output_file) notes.push('written to ' + agent.output_file);
  return notes.join(' \u00b7 ');
}

function answerBox(agent, i) {
  const u = agent.usage;
  const problem = agent.error ? agent.error.message + ' (' + agent.error.code + ')' : agent.skip_reason;
  const text = answerText(agent);
  return el('details', {class: 'answer', id: answerId(i)},
      el('summary', {}, el('b', {}, agent.name), el('span', {class: 'end ' + toneOf(agent)}, endOf(agent)),
         known(u.completion_tokens) ? el('span', {class: 'muted'}, plural(u.completion_tokens, 'token')) : null,
         el('span', {class: 'peek muted'}, firstLine(problem || agent.text))),
      el('div', {class: 'body'}, el('p', {class: 'muted'}, answerNotes(agent)),
         problem ? el('p', {class: 'problem'}, problem) : null,
         agent.reasoning ? el('details', {class: 'reasoning'}, el('summary', {}, 'Reasoning'),
                              el('pre', {}, agent.reasoning)) : null,
         text ? el('pre', {class: agent.json !== null ? 'json' : 'text'}, text) :
                el('p', {class: 'muted'}, 'No text.')));
}

function openAnswer(i) {
  const box = document.getElementById(answerId(i));
  if (!box) return;
  box.open = true;
  box.scrollIntoView({block: 'start', behavior: 'smooth'});
}

function drawAnswers(report) {
  const boxes = report.agents.map(answerBox);
  const all = el('button', {type: 'button'}, 'open all');
  all.addEventListener('click', () => {
    const open = boxes.some((box) => !box.open);
    for (const box of boxes) box.open = open;
    all.textContent = open ? 'close all' : 'open all';
  });
  fill(section('answers'), {}, [boxes.length > 1 ? all : null, boxes]);
  // A link to an answer opens it.
  const follow = () => {
    const found = /^#answer-(\d+)$/.exec(location.hash);
    if (found) openAnswer(Number(found[1]));
  };
  addEventListener('hashchange', follow);
  follow();
}
