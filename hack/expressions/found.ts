// Every regular expression of the product's source, found by a parser of the language.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';

export interface Expression {
  /** Path below the root of the tree. */
  file: string;
  line: number;
  source: string;
  flags: string;
}

/** An expression whose source is known at run time only. */
export interface Made {
  file: string;
  line: number;
  /** The call as it stands in the source. */
  code: string;
}

export interface Found {
  written: Expression[];
  made: Made[];
}

const FOLDERS = ['api', 'workers', 'operator'];

interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  loc: { start: { line: number } };
  [member: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';

function* nodes(root: unknown): Generator<SyntaxNode> {
  const left: unknown[] = [root];
  while (left.length > 0) {
    const next = left.pop();
    if (Array.isArray(next)) left.push(...(next as unknown[]));
    if (!isNode(next)) continue;
    yield next;
    left.push(...Object.values(next));
  }
}

/** The text of a string literal or of a template without variables. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'StringLiteral') return String(node.value);
  const raw = node.type === 'TaggedTemplateExpression';
  const template = raw ? node.quasi : node;
  if (!isNode(template) || template.type !== 'TemplateLiteral') return undefined;
  const [only, ...others] = template.quasis as { value: { raw: string; cooked: string } }[];
  if (!only || others.length > 0) return undefined;
  return raw ? only.value.raw : only.value.cooked;
}

function isConstructor({ type, callee }: SyntaxNode): boolean {
  return (type === 'NewExpression' || type === 'CallExpression') && isNode(callee) && callee.name === 'RegExp';
}

/** The expressions of one file. */
export function expressionsOf(file: string, text: string): Found {
  const found: Found = { written: [], made: [] };
  const { program } = parse(text, { sourceType: 'module', plugins: ['typescript'] });
  for (const node of nodes(program)) {
    const { line } = node.loc.start;
    if (node.type === 'RegExpLiteral')
      found.written.push({ file, line, source: String(node.pattern), flags: String(node.flags) });
    if (!isConstructor(node)) continue;
    const [source, flags] = node.arguments as unknown[];
    const [words, signs] = [textOf(source), flags === undefined ? '' : textOf(flags)];
    if (words === undefined || signs === undefined)
      found.made.push({ file, line, code: text.slice(node.start, node.end).replace(/\s+/g, ' ') });
    else found.written.push({ file, line, source: words, flags: signs });
  }
  return found;
}

/** The expressions of `api`, `workers` and `operator`. */
export function findExpressions(root: string): Found {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const all = files.map((file) => expressionsOf(file.slice(root.length), readFileSync(file, 'utf8')));
  return { written: all.flatMap(({ written }) => written), made: all.flatMap(({ made }) => made) };
}
