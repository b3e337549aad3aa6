// The state of the studio, and how it stands in the address: what is open can be sent as a link or kept as a file.

export const PAGES = ["model", "equations", "motion", "stability", "control", "study", "published", "report"];

export function fresh() {
  return { page: "model", model: { name: "pendulum:3", variant: {}, text: null }, settings: {}, options: {} };
}

export async function toAddress(state) {
  const words = new URLSearchParams();
  words.set("model", state.model.name);
  for (const [what, choice] of Object.entries(state.model.variant)) words.set(`with.${what}`, choice);
  if (state.model.text !== null) words.set("text", await packed(state.model.text));
  for (const [name, value] of Object.entries(state.settings)) words.set(`set.${name}`, value);
  for (const page of PAGES)
    for (const [name, value] of Object.entries(state.options[page] || {}))
      if (value !== null && value !== undefined && value !== "") words.set(`${page}.${name}`, written(value));
  return `#${state.page}?${words}`.replaceAll("%3A", ":").replaceAll("%27", "'").replaceAll("%7E", "~");
}

export async function fromAddress(hash) {
  const state = fresh();
  const [page, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  if (PAGES.includes(page)) state.page = page;
  for (const [key, value] of new URLSearchParams(query)) {
    const [kind, name] = key.split(/\.(.*)/s);
    if (kind === "model") state.model.name = value;
    else if (kind === "text") state.model.text = await unpacked(value);
    else if (kind === "with" && name) state.model.variant[name] = value;
    else if (kind === "set" && name) state.settings[name] = value;
    else if (PAGES.includes(kind) && name) (state.options[kind] ||= {})[name] = read(value);
  }
  return state;
}

export function checked(given) {
  const state = fresh();
  if (!given || typeof given !== "object" || !given.model) throw new Error("not a state of the studio");
  if (PAGES.includes(given.page)) state.page = given.page;
  state.model.name = String(given.model.name);
  if (typeof given.model.text === "string") state.model.text = given.model.text;
  for (const [n, v] of Object.entries(given.model.variant || {})) state.model.variant[n] = String(v);
  for (const [n, v] of Object.entries(given.settings || {})) state.settings[n] = v;
  for (const page of PAGES) if (typeof given.options?.[page] === "object") state.options[page] = { ...given.options[page] };
  return state;
}

const written = (value) => (typeof value === "string" && !value.startsWith("~") ? value : `~${JSON.stringify(value)}`);

function read(text) {
  if (!text.startsWith("~")) return text;
  try { return JSON.parse(text.slice(1)); } catch { return ""; }
}

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function packed(text) {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(text) {
  try {
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  } catch { return null; }
}
