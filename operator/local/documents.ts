// YAML files -> documents with the line of every field.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Document, isMap, isScalar, isSeq, LineCounter, type Pair, parseAllDocuments } from 'yaml';

export type Path = readonly (string | number)[];

export interface Problem {
  file: string;
  line: number;
  path: string;
  message: string;
}

export interface SourceDocument {
  file: string;
  value: Record<string, unknown>;
  /** Line of the field, or of the nearest one around it that is there. */
  lineOf(path: Path): number;
}

export interface Documents {
  documents: SourceDocument[];
  problems: Problem[];
}

const YAML = /\.ya?ml$/;

/** Files as named, and the YAML files of folders as named (not of their sub-folders), in the order of their names. */
export function listFiles(paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => YAML.test(name));
    return names.sort().map((name) => join(path, name));
  });
  return [...new Set(files)];
}

/** Changes when any of the files does. */
export function signatureOf(paths: readonly string[]): string {
  return listFiles(paths)
    .map((file) => {
      const at = statSync(file, { throwIfNoEntry: false, bigint: true });
      return at ? `${file}:${at.ino}:${at.mtimeNs}:${at.size}` : file;
    })
    .join('\n');
}

export function readDocuments(paths: readonly string[]): Documents {
  const parts = listFiles(paths).map(readFile);
  return { documents: parts.flatMap((part) => part.documents), problems: parts.flatMap((part) => part.problems) };
}

function readFile(path: string): Documents {
  const file = relative(process.cwd(), path).startsWith('..') ? path : relative(process.cwd(), path);
  try {
    return parseText(readFileSync(path, 'utf8'), file);
  } catch (error) {
    return { documents: [], problems: [{ file, line: 1, path: '', message: (error as Error).message }] };
  }
}

export function parseText(text: string, file: string): Documents {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines });
  const documents: SourceDocument[] = [];
  const problems: Problem[] = [];
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const at = (offset: number): number => lines.linePos(offset).line;
    for (const fault of document.errors)
      problems.push({ file, line: at(fault.pos[0]), path: '', message: fault.message.split('\n')[0] ?? fault.code });
    if (document.errors.length > 0 || document.contents === null) continue;
    const value: unknown = document.toJS();
    if (isMap(document.contents))
      documents.push({
        file,
        value: value as Record<string, unknown>,
        lineOf: (path) => at(offsetOf(document, path)),
      });
    else problems.push({ file, line: at(document.contents.range?.[0] ?? 0), path: '', message: 'not a resource' });
  }
  return { documents, problems };
}

function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const step of path) {
    const inner = member(node, step);
    if (!inner) break;
    node = inner.node;
    offset = inner.offset ?? offset;
  }
  return offset;
}

function member(node: unknown, step: string | number): { node: unknown; offset: number | undefined } | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return item === undefined ? undefined : { node: item, offset: (item as { range?: [number] }).range?.[0] };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }: Pair) => isScalar(key) && String(key.value) === String(step));
  return pair && { node: pair.value, offset: (pair.key as { range?: [number] }).range?.[0] };
}

/** `spec.media[1].name` */
export function pathText(path: Path): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index ? `.${step}` : step)).join('');
}

export function problemText({ file, line, path, message }: Problem): string {
  return `${file}:${line} ${path ? `${path}: ` : ''}${message}`;
}
