// Rebuilds the drawing of an icon from a list of allowed parts. Anything active, and any reference that leaves the file,
// refuses the whole drawing. It is parsed without DTD and entities, and runs in the sandboxed process only.
import { SaxesParser } from 'saxes';

export type SvgFault = 'svg-active-content' | 'svg-external-reference' | 'svg-too-complex' | 'corrupt';

/** A drawing that is refused. */
export class SvgRefused extends Error {
  readonly fault: SvgFault;
  constructor(fault: SvgFault, detail: string) {
    super(detail);
    this.fault = fault;
  }
}

const MOST_ELEMENTS = 5000;
const MOST_DEPTH = 32;
const MOST_COMMANDS = 20_000;
/** Of the shorter and the longer side of a drawing without a view box. */
const MOST_SIDE = 100_000;

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const ELEMENTS = words(
  'svg g defs path rect circle ellipse line polyline polygon linearGradient radialGradient stop clipPath mask use title desc',
);
/** Elements of SVG that run, load or animate something, and those that need a font. */
const REFUSED = words(
  'script style foreignObject image text tspan textPath tref animate animateColor animateMotion animateTransform set mpath ' +
    'feImage iframe audio video canvas object embed handler listener discard font font-face',
);
const ATTRIBUTES = words(
  'id d x y x1 y1 x2 y2 cx cy r rx ry fx fy fr width height points viewBox preserveAspectRatio transform pathLength ' +
    'fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray ' +
    'stroke-dashoffset stroke-opacity opacity color clip-path clip-rule mask offset stop-color stop-opacity ' +
    'gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits display visibility vector-effect',
);

interface Node {
  name: string;
  attributes: [string, string][];
  children: Node[];
  /** Ids that it draws: of `use`, of a clip path, a mask or a paint. */
  uses: string[];
  commands: number;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? '');

const bareOf = (name: string): string => name.slice(name.indexOf(':') + 1);

/** The id of a reference. Throws `svg-external-reference` unless it stays in the file. */
function localId(value: string): string {
  const id = /^#([\w.-]+)$/.exec(value.trim())?.[1];
  if (!id) throw new SvgRefused('svg-external-reference', value.slice(0, 100));
  return id;
}

/** Ids in `url(#id)` of a value. Throws for an address and for an escape, which can spell any word. */
function idsIn(value: string): string[] {
  if (value.includes('\\')) throw new SvgRefused('svg-active-content', 'an escape');
  const parts = value.toLowerCase().split('url(').length - 1;
  const ids = [...value.matchAll(/url\(\s*["']?#([\w.-]{1,200})["']?\s*\)/gi)].map((found) => found[1] ?? '');
  if (parts !== ids.length || /(?:https?|data|file|javascript):/i.test(value))
    throw new SvgRefused('svg-external-reference', value.slice(0, 100));
  return ids;
}

/** The declarations of a style attribute as attributes. */
function declarations(text: string): [string, string][] {
  return text.split(';').flatMap((one): [string, string][] => {
    const colon = one.indexOf(':');
    return colon < 0 ? [] : [[one.slice(0, colon).trim().toLowerCase(), one.slice(colon + 1).trim()]];
  });
}

function readReference(node: Node, value: string): void {
  const id = localId(value);
  if (node.name === 'use' || node.name.endsWith('Gradient')) node.attributes.push(['href', `#${id}`]);
  if (node.name === 'use') node.uses.push(id);
}

function readAttributes(node: Node, given: readonly [string, string][]): void {
  for (const [name, value] of given) {
    const bare = bareOf(name);
    if (/^on/i.test(bare)) throw new SvgRefused('svg-active-content', bare.slice(0, 100));
    if (name.startsWith('xmlns')) continue;
    if (bare === 'href' || bare === 'src') readReference(node, value);
    else if (bare === 'style') readAttributes(node, declarations(value));
    else {
      node.uses.push(...idsIn(value));
      if (ATTRIBUTES.has(name)) node.attributes.push([name, value]);
    }
  }
}

function nodeOf(name: string, given: readonly [string, string][]): Node {
  const node: Node = { name, attributes: [], children: [], uses: [], commands: 0 };
  readAttributes(node, given);
  for (const [key, value] of node.attributes)
    if (key === 'd' || key === 'points') node.commands += numbersIn(value, key === 'd' ? /[a-df-z]/gi : /[ ,]+/g);
  return node;
}

const numbersIn = (text: string, sign: RegExp): number => text.match(sign)?.length ?? 0;

/** Elements and path commands that the node draws, those it refers to included. Throws for a circle and over the limits. */
class Weights {
  readonly #ids: ReadonlyMap<string, Node>;
  readonly #known = new Map<Node, { elements: number; commands: number }>();
  readonly #open = new Set<Node>();

  constructor(ids: ReadonlyMap<string, Node>) {
    this.#ids = ids;
  }

  of(node: Node): { elements: number; commands: number } {
    const known = this.#known.get(node);
    if (known) return known;
    if (this.#open.has(node) || this.#open.size > 4 * MOST_DEPTH)
      throw new SvgRefused('svg-too-complex', 'references in a circle');
    this.#open.add(node);
    const used = node.uses.flatMap((id) => this.#ids.get(id) ?? []);
    const sum = { elements: 1, commands: node.commands };
    for (const one of [...node.children, ...used]) {
      const { elements, commands } = this.of(one);
      sum.elements += elements;
      sum.commands += commands;
      if (sum.elements > MOST_ELEMENTS || sum.commands > MOST_COMMANDS)
        throw new SvgRefused('svg-too-complex', 'too many parts');
    }
    this.#open.delete(node);
    this.#known.set(node, sum);
    return sum;
  }
}

/** Collects the parts of a drawing while it is read. */
class Reading {
  readonly ids = new Map<string, Node>();
  root: Node | undefined;
  readonly #path: (Node | undefined)[] = [];
  #count = 0;

  /** Parts that are left out are judged too: a script or a reference in them refuses the drawing. */
  open(name: string, given: readonly [string, string][]): void {
    this.#count += 1;
    if (this.#count > MOST_ELEMENTS || this.#path.length >= MOST_DEPTH)
      throw new SvgRefused('svg-too-complex', 'too many parts');
    if (REFUSED.has(name)) throw new SvgRefused('svg-active-content', name);
    const node = nodeOf(name, given);
    const parent = this.#path.at(-1);
    const isDrawn = ELEMENTS.has(name) && (this.#path.length === 0 || parent !== undefined);
    this.#path.push(isDrawn ? node : undefined);
    if (isDrawn) this.#add(node, parent);
  }

  close(): void {
    this.#path.pop();
  }

  #add(node: Node, parent: Node | undefined): void {
    if (parent) parent.children.push(node);
    else this.root = node;
    const id = node.attributes.find(([key]) => key === 'id')?.[1];
    if (id !== undefined && !this.ids.has(id)) this.ids.set(id, node);
  }
}

function parsed(text: string): { root: Node; ids: ReadonlyMap<string, Node> } {
  const reading = new Reading();
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw new SvgRefused('corrupt', error.message.slice(0, 100));
  });
  parser.on('doctype', (doctype) => {
    if (doctype.includes('[')) throw new SvgRefused('svg-active-content', 'declares entities');
  });
  parser.on('processinginstruction', () => {
    throw new SvgRefused('svg-active-content', 'a processing instruction');
  });
  parser.on('opentag', ({ name, attributes }) =>
    reading.open(bareOf(name), Object.entries(attributes as Record<string, string>)),
  );
  parser.on('closetag', () => reading.close());
  parser.write(text).close();
  const { root, ids } = reading;
  if (root?.name !== 'svg') throw new SvgRefused('corrupt', 'no drawing');
  return { root, ids };
}

function printed({ name, attributes, children }: Node, root = false): string {
  const space = root ? ' xmlns="http://www.w3.org/2000/svg"' : '';
  const text = attributes.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('');
  if (name === 'title' || name === 'desc') return '';
  return `<${name}${space}${text}>${children.map((one) => printed(one)).join('')}</${name}>`;
}

/** The rebuilt drawing. Throws `SvgRefused`. */
export function rebuiltSvg(text: string): string {
  const { root, ids } = parsed(text);
  new Weights(ids).of(root);
  const sides = ['width', 'height'].map((side) =>
    Number.parseFloat(root.attributes.find(([key]) => key === side)?.[1] ?? '1'),
  );
  if (sides.some((side) => side > MOST_SIDE)) throw new SvgRefused('svg-too-complex', 'too large');
  return printed(root, true);
}
