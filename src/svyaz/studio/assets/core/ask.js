// Questions to the studio. An answer is a stream of frames: how far the work is, then the answer itself.
// Leaving the page, or `abort`, ends the work.

const HEAD = 8;

export class Mistakes extends Error {
  constructor(problems) { super(problems.map((p) => p.message).join("\n")); this.problems = problems; }
}
export class Negative extends Error {
  constructor(facts) { super(facts.reason); this.facts = facts; }
}
export class Refused extends Error {
  constructor(kind, parts) { super(`${kind} ${parts.join(" ")}`); this.kind = kind; this.parts = parts; }
}

export async function ask(question, { progress = null, signal = null } = {}) {
  const response = await post("/ask", question, signal);
  const reader = response.body.getReader();
  let rest = new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Refused("lost", []);
    rest = joined(rest, value);
    for (let frame = taken(rest); frame; frame = taken(rest)) {
      rest = frame.rest;
      const message = frame.message;
      if (message.progress) progress?.(message.progress.done, message.progress.total);
      else if (message.answer) return message.answer;
      else if (message.mistakes) throw new Mistakes(message.mistakes);
      else if (message.negative) throw new Negative(message.negative);
      else throw new Refused(message.refused.reason, message.refused.parts);
    }
  }
}

export async function post(path, body, signal = null) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("gone", []);
  }
  if (!response.ok) throw new Refused("http", [(await response.text()).trim()]);
  return response;
}

export async function postJson(path, body = {}) {
  return (await post(path, body)).json();
}

function joined(a, b) {
  if (!a.length) return b;
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

function taken(bytes) {
  if (bytes.length < HEAD) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
  const text = view.getUint32(0, true), data = view.getUint32(4, true);
  if (bytes.length < HEAD + text + data) return null;
  const message = JSON.parse(new TextDecoder().decode(bytes.subarray(HEAD, HEAD + text)));
  const numbers = bytes.slice(HEAD + text, HEAD + text + data).buffer;
  return { message: revived(message, numbers), rest: bytes.subarray(HEAD + text + data) };
}

function revived(value, numbers) {
  if (Array.isArray(value)) return value.map((part) => revived(part, numbers));
  if (value === null || typeof value !== "object") return value;
  if ("array" in value && "shape" in value) {
    const count = value.shape.reduce((a, b) => a * b, 1);
    const found = new Float64Array(numbers, value.array, count);
    found.shape = value.shape;
    return found;
  }
  for (const name of Object.keys(value)) value[name] = revived(value[name], numbers);
  return value;
}

// At most one question at a time; while it is answered only the last of the others is remembered.
export class Latest {
  constructor() { this.running = false; this.next = null; this.abort = null; }

  async run(work) {
    if (this.running) { this.next = work; return; }
    this.running = true;
    try {
      for (let now = work; now; now = this.next) {
        this.next = null;
        this.abort = new AbortController();
        await now(this.abort.signal);
      }
    } finally { this.running = false; this.abort = null; }
  }

  stop() { this.next = null; this.abort?.abort(); }
}
