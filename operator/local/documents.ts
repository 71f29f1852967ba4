// YAML files -> documents with the line of every field.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  type ScalarTag,
  type YAMLError,
} from 'yaml';

export type Path = readonly (string | number)[];

export interface Problem {
  file: string;
  /** From 1; 0 where the problem has no line. */
  line: number;
  path: string;
  message: string;
  /** `Kind/name` of the invalid resource. */
  of?: string;
}

export interface SourceDocument {
  file: string;
  value: Record<string, unknown>;
  /** Path of the resource in its document: an entry of a List, or empty. */
  within: Path;
  /** Line of the field, or of its nearest existing parent. */
  lineOf(path: Path): number;
}

export interface Documents {
  documents: SourceDocument[];
  problems: Problem[];
  /** `Kind/name` of documents that cannot be read, where it is known. */
  broken: string[];
}

/** Stands for a document or file whose resources are unknown. */
export const UNIDENTIFIED = '?/?';

const YAML = /^[^.].*\.ya?ml$/; // editors use names that begin with a dot

/** YAML 1.1 booleans and merge keys, as kubectl reads them. */
const yesOrNo: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/,
  resolve: (text) => /^(?:yes|on)$/i.test(text),
};

/** The files named, and the YAML files directly inside the folders named, in order of their names. */
export function listFiles(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => filesIn(path) ?? [path]))];
}

/** Undefined when the path is not a folder or cannot be listed; reading it as a file then reports the error. */
function filesIn(path: string): string[] | undefined {
  try {
    const names = readdirSync(path).filter((name) => YAML.test(name));
    return names.sort().map((name) => join(path, name));
  } catch {
    return undefined;
  }
}

/** Changes when any of the files does. */
export function signatureOf(paths: readonly string[]): string {
  return listFiles(paths).map(stateOf).join('\n');
}

function stateOf(file: string): string {
  try {
    const at = statSync(file, { bigint: true });
    return `${file}:${at.ino}:${at.mtimeNs}:${at.size}`;
  } catch (error) {
    return `${file}:${(error as NodeJS.ErrnoException).code}`;
  }
}

export function readDocuments(paths: readonly string[]): Documents {
  const parts = [...paths.flatMap(emptyFolder), ...listFiles(paths).map(readFile)];
  return {
    documents: parts.flatMap((part) => part.documents),
    problems: parts.flatMap((part) => part.problems),
    broken: parts.flatMap((part) => part.broken),
  };
}

function emptyFolder(path: string): Documents[] {
  if (filesIn(path)?.length !== 0) return [];
  return [
    {
      documents: [],
      problems: [{ file: path, line: 0, path: '', message: 'no .yaml or .yml file in it' }],
      broken: [],
    },
  ];
}

function readFile(path: string): Documents {
  const file = relative(process.cwd(), path).startsWith('..') ? path : relative(process.cwd(), path);
  try {
    return parseText(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)), file);
  } catch (error) {
    const unread = !(error instanceof TypeError);
    const message = unread ? (error as Error).message : 'not UTF-8 text';
    return { documents: [], problems: [{ file, line: unread ? 0 : 1, path: '', message }], broken: [UNIDENTIFIED] };
  }
}

export function parseText(text: string, file: string): Documents {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines, merge: true, customTags: [yesOrNo] });
  const all: Documents = { documents: [], problems: [], broken: [] };
  const at = (offset: number): number => lines.linePos(offset).line;
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const faults = faultsOf(document);
    const contents = faults.length > 0 || document.toJS() === null ? [] : partsOf(document, [], { file, at });
    if (faults.length > 0) all.broken.push(nameOf(document));
    for (const { position, message } of faults) all.problems.push({ file, line: at(position), path: '', message });
    for (const part of contents) {
      if ('message' in part) all.problems.push(part);
      else all.documents.push(part);
    }
  }
  return all;
}

interface Fault {
  position: number;
  message: string;
}

/** Errors in the YAML itself, including unknown tags and aliases that expand beyond any resource. */
function faultsOf(document: Document): Fault[] {
  const errors = [...document.errors, ...document.warnings].map((fault: YAMLError) => {
    return { position: fault.pos[0], message: fault.message.split('\n')[0] ?? fault.code };
  });
  if (errors.length > 0) return errors;
  try {
    document.toJS();
    return [];
  } catch (error) {
    return [{ position: document.contents?.range?.[0] ?? 0, message: (error as Error).message }];
  }
}

function nameOf(document: Document): string {
  if (!isMap(document.contents)) return UNIDENTIFIED;
  const [kind, name] = [document.getIn(['kind']), document.getIn(['metadata', 'name'])];
  return typeof kind === 'string' && typeof name === 'string' ? `${kind}/${name}` : UNIDENTIFIED;
}

interface Where {
  file: string;
  at: (offset: number) => number;
}

/** The resource of a document, or the items of a List as `kubectl get` prints it. */
function partsOf(document: Document, path: Path, where: Where): (SourceDocument | Problem)[] {
  const { file, at } = where;
  const value: unknown = path.length > 0 ? document.toJS().items?.[Number(path[1])] : document.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ file, line: at(offsetOf(document, path)), path: pathText(path), message: 'not a resource' }];
  const { kind, items } = value as { kind?: unknown; items?: unknown };
  if (path.length === 0 && kind === 'List' && Array.isArray(items))
    return items.flatMap((_, index) => partsOf(document, ['items', index], where));
  return [
    {
      file,
      value: value as Record<string, unknown>,
      within: path,
      lineOf: (inner) => at(offsetOf(document, [...path, ...inner])),
    },
  ];
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
  return `${line ? `${file}:${line}` : file} ${path ? `${path}: ` : ''}${message}`;
}
