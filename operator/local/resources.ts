// Documents -> resources, by the schemas of the CRDs. Reports all problems at once.
import { z } from 'zod';
import { kinds } from '../schemas/kinds.ts';
import type { LibrarySpec } from '../schemas/library.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { GROUP, VERSION } from '../schemas/structural.ts';
import type { TunerDeviceSpec } from '../schemas/tuner-device.ts';
import { type Documents, type Path, type Problem, pathText, type SourceDocument } from './documents.ts';

const Metadata = z.looseObject({
  name: z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/),
  namespace: z.string().max(63).default('default'),
  annotations: z.record(z.string(), z.string()).default({}),
});

const Text = z.record(z.string(), z.string());
const Secret = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Secret'),
  metadata: Metadata,
  type: z.string().optional(),
  immutable: z.boolean().optional(),
  data: z.record(z.string(), z.base64()).default({}),
  stringData: Text.default({}),
});
const ConfigMap = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('ConfigMap'),
  metadata: Metadata,
  immutable: z.boolean().optional(),
  data: Text.default({}),
  binaryData: z.record(z.string(), z.base64()).default({}),
});

export interface Resource<Spec> {
  kind: string;
  name: string;
  namespace: string;
  annotations: Record<string, string>;
  spec: Spec;
  source: SourceDocument;
}

export interface Resources {
  servers: Resource<MediaServerSpec>[];
  libraries: Resource<LibrarySpec>[];
  tuners: Resource<TunerDeviceSpec>[];
  /** Values by name and key. */
  secrets: Map<string, Record<string, string>>;
  /** Values of binaryData are bytes. */
  configMaps: Map<string, Record<string, string | Uint8Array>>;
  /** `Kind/name` of every document, invalid ones included: a reference to an invalid document is not an error of its own. */
  declared: Set<string>;
}

export interface Loaded {
  resources: Resources;
  problems: Problem[];
}

export function problemAt(source: SourceDocument, path: Path, message: string): Problem {
  const [line, of] = [source.lineOf(path), keyOf(source)];
  return { file: source.file, line, path: pathText([...source.within, ...path]), message, of };
}

function keyOf({ value }: SourceDocument): string {
  const { kind, metadata } = value as { kind?: unknown; metadata?: { name?: unknown } };
  return `${String(kind)}/${String(metadata?.name)}`;
}

export function toResources({ documents, problems, broken }: Documents): Loaded {
  const texts = { secrets: new Map(), configMaps: new Map() };
  const resources: Resources = { servers: [], libraries: [], tuners: [], ...texts, declared: new Set() };
  const found = [...problems];
  const known = new Map<string, SourceDocument>();
  for (const source of documents) found.push(...repeated(source, known), ...take(source, resources));
  resources.declared = new Set([...known.keys(), ...broken]);
  return { resources, problems: found };
}

function repeated(source: SourceDocument, known: Map<string, SourceDocument>): Problem[] {
  const { metadata } = source.value as { metadata?: { name?: unknown } };
  const key = keyOf(source);
  const before = known.get(key);
  if (before) {
    const where = `${before.file}:${before.lineOf(['metadata', 'name'])}`;
    return [problemAt(source, ['metadata', 'name'], `${key} exists already (${where})`)];
  }
  if (metadata?.name !== undefined) known.set(key, source);
  return [];
}

function take(source: SourceDocument, into: Resources): Problem[] {
  switch (source.value.kind) {
    case 'MediaServer':
      return takeKind(source, into.servers);
    case 'Library':
      return takeKind(source, into.libraries);
    case 'TunerDevice':
      return takeKind(source, into.tuners);
    case 'Secret':
      return takeText(source, Secret, ({ metadata, data, stringData }) => {
        into.secrets.set(metadata.name, { ...decoded(data), ...stringData });
      });
    case 'ConfigMap':
      return takeText(source, ConfigMap, ({ metadata, data, binaryData }) => {
        const bytes = Object.entries(binaryData).map(([key, text]) => [key, Buffer.from(text, 'base64')]);
        into.configMaps.set(metadata.name, { ...data, ...Object.fromEntries(bytes) });
      });
    default:
      return [problemAt(source, ['kind'], `unknown kind ${JSON.stringify(source.value.kind ?? null)}`)];
  }
}

const decoded = (data: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]));

function takeText<S extends z.ZodType>(
  source: SourceDocument,
  schema: S,
  store: (value: z.output<S>) => void,
): Problem[] {
  const parsed = schema.safeParse(source.value);
  if (parsed.success) store(parsed.data);
  return parsed.success ? [] : issuesOf(source, parsed.error);
}

function takeKind<Spec>(source: SourceDocument, list: Resource<Spec>[]): Problem[] {
  const kind = kinds.find((entry) => entry.kind === source.value.kind);
  const envelope = z.strictObject({
    apiVersion: z.literal(`${GROUP}/${VERSION}`),
    kind: z.string(),
    metadata: Metadata,
    spec: kind?.spec ?? z.unknown(),
    status: z.unknown().optional(), // as `kubectl get -o yaml` prints it
  });
  const parsed = envelope.safeParse(source.value);
  if (!parsed.success) return issuesOf(source, parsed.error);
  const { metadata, spec } = parsed.data;
  const { name, namespace, annotations } = metadata;
  list.push({ kind: parsed.data.kind, name, namespace, annotations, spec: spec as Spec, source });
  return [];
}

function issuesOf(source: SourceDocument, error: z.ZodError): Problem[] {
  return error.issues.flatMap((issue): Problem[] => {
    const path = issue.path as Path;
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => problemAt(source, [...path, key], 'unknown field'));
    if (issue.code === 'invalid_union') return [problemAt(source, path, 'is not a quantity such as 10Gi')];
    return [problemAt(source, path, issue.message)];
  });
}
