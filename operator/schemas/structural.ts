// zod -> CustomResourceDefinition. Properties without a zod equivalent are in .meta(): cel, immutable, intOrString,
// listMapKeys, listType, preserve.
import { z } from 'zod';
import type { JsonSchema, Manifest } from '../runtime/manifest.ts';

export interface Cel {
  rule: string;
  message: string;
  fieldPath?: string;
  /** `oldSelf` is an optional value, so that the rule also applies to new resources. */
  optionalOldSelf?: true;
}

declare module 'zod' {
  interface GlobalMeta {
    cel?: Cel[];
    immutable?: true;
    intOrString?: true;
    listMapKeys?: string[];
    listType?: 'set' | 'atomic';
    preserve?: true;
  }
}

export type Json = Record<string, unknown>;

/** A rule in two languages: CEL for the Kubernetes API server, `holds` for files that this process reads. */
export interface Rule<T> extends Cel {
  holds: (value: T) => boolean;
}

export const QUANTITY =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;

/** A Kubernetes quantity (`10Gi`, `500m`, `2`). */
export const quantity = () =>
  z
    .union([z.int(), z.string().max(50).regex(QUANTITY, 'must be a quantity such as 10Gi')])
    .meta({ intOrString: true, pattern: QUANTITY.source });

/** Keeps unknown members; for records with arbitrary values. */
export const preserve = <S extends z.ZodType>(schema: S): S => schema.meta({ preserve: true });

/** A list that server-side apply merges by some members of its entries, which must be unique together. */
export function listMap<S extends z.ZodObject>(keys: string | readonly string[], item: S, max: number) {
  const listMapKeys = [keys].flat();
  const values = (entry: unknown): string => JSON.stringify(listMapKeys.map((key) => (entry as Json)[key]));
  return z
    .array(item)
    .max(max)
    .superRefine((items, context) => repeats(items.map(values)).forEach(report(context, listMapKeys[0])))
    .meta({ listMapKeys });
}

/** A list of unique scalars. */
export function setOf<S extends z.ZodType>(item: S, max: number) {
  return z
    .array(item)
    .max(max)
    .superRefine((items, context) => repeats(items).forEach(report(context)))
    .meta({ listType: 'set' });
}

function repeats(values: unknown[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

function report(context: z.RefinementCtx, key?: string) {
  return (index: number) =>
    context.addIssue({ code: 'custom', path: key ? [index, key] : [index], message: 'duplicate value', input: index });
}

/** Apply last: .extend, .pick and .omit remove it. Every string, list and map that a rule reads needs a limit. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: Rule<z.output<S>>[]): S {
  let checked: S = schema;
  for (const rule of rules) {
    const path = rule.fieldPath?.split('.').filter(Boolean) ?? [];
    checked = checked.refine((value) => rule.holds(value as z.output<S>), { message: rule.message, path }) as S;
  }
  return checked.meta({ cel: rules.map(celOf) }) as S;
}

const celOf = ({ rule, message, fieldPath }: Cel): Cel => ({ rule, message, ...(fieldPath && { fieldPath }) });

const given = (value: unknown, names: readonly string[]) =>
  names.filter((name) => (value as Json)[name] !== undefined).length;
const has = (names: readonly string[]) => `[${names.map((name) => `has(self.${name})`).join(', ')}]`;

/** Exactly one of the named optional members must be set; default: of all members. */
export function exactlyOne<S extends z.ZodObject>(schema: S, names = Object.keys(schema.shape)): S {
  const message = `exactly one of ${names.join(', ')}`;
  return withRules(schema, {
    rule: `${has(names)}.exists_one(x, x)`,
    message,
    holds: (value) => given(value, names) === 1,
  });
}

/** As {@link exactlyOne}, but none is valid too; a rule for {@link withRules}. */
export function atMostOne(...names: string[]): Rule<unknown> {
  const message = `at most one of ${names.join(', ')}`;
  return { rule: `${has(names)}.filter(x, x).size() <= 1`, message, holds: (value) => given(value, names) <= 1 };
}

/** A value that cannot be changed after the resource was created. */
export function immutable<S extends z.ZodType>(schema: S): S {
  return schema.meta({ immutable: true, cel: [{ rule: 'self == oldSelf', message: 'cannot be changed' }] }) as S;
}

const OWN_WORDS = ['$schema', 'id', 'additionalProperties', 'cel', 'immutable', 'intOrString', 'listMapKeys'];
const DROP = [...OWN_WORDS, 'listType', 'preserve', 'contentEncoding'];

/** The structural schema for Kubernetes. Throws an error with the path of a part that cannot be expressed. */
export function structural(schema: z.ZodType): JsonSchema {
  const options = { target: 'openapi-3.0', io: 'input', reused: 'inline', unrepresentable: 'any' } as const;
  return walk(z.toJSONSchema(schema, options) as Json, '') as JsonSchema;
}

function walk(node: Json, path: string): Json {
  const out = plain(node);
  if (node.preserve) return preserved(out, node);
  if (node.intOrString) return intOrString(out);
  for (const word of ['anyOf', 'oneOf', 'allOf', '$ref', 'not'])
    if (word in out) throw new Error(`${path || '.'}: ${word} is not structural`);
  if (!out.type) throw new Error(`${path || '.'}: no type`);
  return { ...out, ...children(node, path) };
}

/** The schema keywords of one node, without its children. */
function plain(node: Json): Json {
  const out: Json = Object.fromEntries(Object.entries(node).filter(([key]) => !DROP.includes(key)));
  if (out.minimum === Number.MIN_SAFE_INTEGER) delete out.minimum;
  if (out.maximum === Number.MAX_SAFE_INTEGER) delete out.maximum;
  if (out.type === 'integer') out.format = 'int64';
  if (out.format === 'date-time') delete out.pattern;
  if (node.cel) out['x-kubernetes-validations'] = node.cel;
  if (out.type === 'array') out['x-kubernetes-list-type'] = node.listMapKeys ? 'map' : (node.listType ?? 'atomic');
  if (node.listMapKeys) out['x-kubernetes-list-map-keys'] = node.listMapKeys;
  return out;
}

function preserved(out: Json, node: Json): Json {
  return { ...pick(out, 'description', 'default'), type: node.type, 'x-kubernetes-preserve-unknown-fields': true };
}

function intOrString(out: Json): Json {
  const types = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
  return { ...pick(out, 'description', 'default', 'pattern'), ...types };
}

function children(node: Json, path: string): Json {
  const out: Json = {};
  const properties = node.properties as Record<string, Json> | undefined;
  const entries = Object.entries(properties ?? {}).map(([key, value]) => [key, walk(value, `${path}.${key}`)]);
  if (properties) out.properties = Object.fromEntries(entries);
  else if (typeof node.additionalProperties === 'object')
    out.additionalProperties = walk(node.additionalProperties as Json, `${path}.*`);
  if (node.items) out.items = walk(node.items as Json, `${path}[]`);
  return out;
}

const pick = (value: Json, ...keys: string[]): Json =>
  Object.fromEntries(keys.filter((key) => key in value).map((key) => [key, value[key]]));

export interface Column {
  name: string;
  type: 'string' | 'integer' | 'date';
  jsonPath: string;
  description?: string;
  priority?: 0 | 1;
}

export interface Kind {
  kind: 'MediaServer' | 'Library' | 'TunerDevice';
  plural: string;
  short: string;
  description: string;
  spec: z.ZodType;
  status: z.ZodType;
  columns: readonly Column[];
  /** Rules about the whole resource, including its name. */
  rules?: readonly Cel[];
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath: string };
}

export const GROUP = 'foyer.media';
export const VERSION = 'v1alpha1';
const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The status until the first pass: kstatus considers a resource without a status to be ready. */
const NOT_OBSERVED = { observedGeneration: 0 };

/** A rule for names that are prefixes of other names. Existing resources keep their names. */
export const namedWithin = (max: number): Cel => ({
  rule: `oldSelf.hasValue() || (self.metadata.name.size() <= ${max} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))`,
  message: `metadata.name must begin with a letter, hold only letters, digits and dashes, and have at most ${max} characters`,
  optionalOldSelf: true,
});

/** The CustomResourceDefinition of a kind. */
export function crd(kind: Kind): Manifest<'CustomResourceDefinition'> {
  const meta = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } };
  const spec = { description: `Desired state of the ${kind.kind}.`, ...structural(kind.spec) };
  const observed = { description: 'Observed state, written by the operator.', default: NOT_OBSERVED };
  const status = { ...observed, ...structural(kind.status) };
  const parts = { ...meta, spec, status };
  const version = {
    name: VERSION,
    served: true,
    storage: true,
    subresources: { status: {}, ...(kind.scale && { scale: kind.scale }) },
    additionalPrinterColumns: [...kind.columns, AGE],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description: kind.description,
        required: ['spec'],
        properties: parts,
        ...(kind.rules && { 'x-kubernetes-validations': kind.rules }),
      },
    },
  };
  const singular = kind.kind.toLowerCase();
  const names = { kind: kind.kind, listKind: `${kind.kind}List`, plural: kind.plural, singular };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { ...names, shortNames: [kind.short], categories: ['foyer'] },
      versions: [version],
    },
  };
}
