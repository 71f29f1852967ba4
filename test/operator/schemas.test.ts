import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import { setConditions } from '#operator/schemas/conditions.ts';
import { kinds } from '#operator/schemas/kinds.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { Settings } from '#operator/schemas/settings.ts';
import { crd, exactlyOne, type Json, structural } from '#operator/schemas/structural.ts';
import { settingKeys, settingTable } from '#platform/settings.ts';
import { crdFile } from '../../hack/generate.ts';

interface Node {
  path: string;
  schema: Json;
}

/** Every schema below a schema, with its path. */
function nodes(schema: Json, path: string): Node[] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  const inner = properties.flatMap(([key, value]) => nodes(value, `${path}.${key}`));
  const items = schema.items ? nodes(schema.items as Json, `${path}[]`) : [];
  const values = schema.additionalProperties ? nodes(schema.additionalProperties as Json, `${path}.*`) : [];
  return [{ path, schema }, ...inner, ...items, ...values];
}

const ALLOWED = new Set([
  ...['type', 'format', 'description', 'default', 'enum', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'properties', 'required', 'items', 'additionalProperties', 'anyOf', 'propertyNames'],
]);

/** The rules of the API server for a structural schema. */
function structuralFaults({ path, schema }: Node): string[] {
  const words = Object.keys(schema).filter((word) => !ALLOWED.has(word) && !word.startsWith('x-kubernetes-'));
  const faults = words.map((word) => `${path}: ${word}`);
  if (!schema.type && !schema['x-kubernetes-int-or-string']) faults.push(`${path}: no type`);
  if (schema.properties && schema.additionalProperties) faults.push(`${path}: properties next to additionalProperties`);
  if (schema.anyOf && !schema['x-kubernetes-int-or-string']) faults.push(`${path}: anyOf`);
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []) as string[];
  const { required = [], properties = {} } = (schema.items ?? {}) as { required?: string[]; properties?: Json };
  const isSure = (key: string) =>
    required.includes(key) || (properties[key] as Json | undefined)?.default !== undefined;
  for (const key of keys) if (!isSure(key)) faults.push(`${path}: key ${key} is not required`);
  if (/\(\?[=!<]/.test(JSON.stringify(schema.pattern ?? ''))) faults.push(`${path}: lookaround is not RE2`);
  return faults;
}

/** A rule over something without a bound costs too much for the API server to take the CRD. */
function boundless({ path, schema }: Node): string[] {
  const reads = ((schema['x-kubernetes-validations'] ?? []) as { rule: string }[]).some(({ rule }) =>
    /oldSelf|exists\(|self\.split/.test(rule),
  );
  if (!reads) return [];
  return nodes(schema, path).flatMap((node) => {
    const open = node.schema.type === 'string' && !node.schema.maxLength && !node.schema.enum && !node.schema.format;
    return open || (node.schema.type === 'array' && !node.schema.maxItems)
      ? [`${node.path}: no bound under a rule`]
      : [];
  });
}

describe('custom resources', () => {
  for (const kind of kinds) {
    describe(kind.kind, () => {
      const all = [...nodes(structural(kind.spec), 'spec'), ...nodes(structural(kind.status), 'status')];

      it('describes every property', () => {
        const named = all.filter(({ path }) => /\.[^.*]+$/.test(path) && !path.endsWith('.*') && !path.endsWith('[]'));
        expect(named.filter(({ schema }) => !schema.description).map(({ path }) => path)).to.deep.equal([]);
        expect(named.length).to.be.greaterThan(10);
      });

      it('is structural, with a bound under every rule', () => {
        expect(all.flatMap((node) => [...structuralFaults(node), ...boundless(node)])).to.deep.equal([]);
      });

      it('is committed as generated', () => {
        const file = `crds/${kind.plural}.yaml`;
        expect(existsSync(file) && readFileSync(file, 'utf8')).to.equal(crdFile(kind));
        expect(parse(crdFile(kind))).to.deep.equal(JSON.parse(JSON.stringify(crd(kind))));
      });

      it('has a status subresource and kstatus columns', () => {
        const [version] = crd(kind).spec.versions;
        expect(version?.subresources).to.have.property('status');
        expect(JSON.stringify(version?.additionalPrinterColumns)).to.contain('@.type==\\"Ready\\"');
      });
    });
  }

  it('scales the API of a MediaServer', () => {
    const kind = kinds.find(({ scale }) => scale);
    expect(kind?.kind).to.equal('MediaServer');
    const paths = nodes(structural(kind?.spec as z.ZodType), '.spec').map(({ path }) => path);
    expect(paths).to.include(kind?.scale?.specReplicasPath);
  });

  it('refuses schemas that cannot be structural, with their path', () => {
    const schema = z.object({ a: z.object({ b: z.union([z.string(), z.boolean()]) }) });
    expect(() => structural(schema)).to.throw('.a.b: anyOf is not structural');
  });

  it('writes a rule in CEL with the meaning of the parser', () => {
    const schema = exactlyOne(z.strictObject({ a: z.string().optional(), b: z.string().optional() }));
    expect(structural(schema)['x-kubernetes-validations']).to.deep.equal([
      { rule: '[has(self.a), has(self.b)].exists_one(x, x)', message: 'exactly one of a, b' },
    ]);
    expect(schema.safeParse({ a: '1' }).success).to.equal(true);
    expect(schema.safeParse({}).error?.issues[0]?.message).to.equal('exactly one of a, b');
    expect(schema.safeParse({ a: '1', b: '1' }).success).to.equal(false);
  });
});

describe('setConditions', () => {
  const first = new Date('2026-01-01T00:00:00Z');
  const later = new Date('2026-01-01T01:00:00Z');
  const ready = { type: 'Ready', status: 'True', reason: 'AllReady', message: 'fine' } as const;

  it('moves the time only with the status', () => {
    const before = setConditions([], [ready], { generation: 1, now: first });
    const same = setConditions(before, [{ ...ready, message: 'still fine' }], { generation: 2, now: later });
    expect(same[0]).to.include({
      lastTransitionTime: first.toISOString(),
      message: 'still fine',
      observedGeneration: 2,
    });
    const changed = setConditions(same, [{ ...ready, status: 'False' }], { generation: 2, now: later });
    expect(changed[0]?.lastTransitionTime).to.equal(later.toISOString());
  });

  it('drops conditions without a controller', () => {
    const before = setConditions([], [ready, { ...ready, type: 'Other' }], { generation: 1, now: first });
    expect(setConditions(before, [ready], { generation: 1, now: later }).map(({ type }) => type)).to.deep.equal([
      'Ready',
    ]);
  });
});

describe('images of a MediaServer', () => {
  const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };
  const taken = (spec: object): boolean => MediaServerSpec.safeParse({ ...stores, ...spec }).success;

  it('are named without tag, in a registry without scheme', () => {
    for (const image of ['foyer', 'home/foyer', 'mirror.example:5000/foyer', 'localhost/a/b/foyer'])
      expect(taken({ image }), image).to.equal(true);
    for (const image of ['foyer:1', 'mirror.example:5000/foyer:1', `foyer@sha256:${'0'.repeat(64)}`, 'foyer/', 'a b'])
      expect(taken({ image }), image).to.equal(false);
    for (const registry of ['mirror', 'mirror.example:5000', 'mirror.example/proxy/hub'])
      expect(taken({ registry }), registry).to.equal(true);
    for (const registry of ['https://mirror.example', 'mirror.example/', 'a b'])
      expect(taken({ registry }), registry).to.equal(false);
  });
});

describe('settings of a MediaServer', () => {
  it('are all that the server has except those that are never in a resource, and each of its defaults can be declared', () => {
    const shape: Record<string, z.ZodType> = Settings.shape;
    expect(settingKeys.filter((key) => !shape[key])).to.deep.equal(['jobs.paused']);
    const refused = settingKeys.filter((key) => {
      const value: unknown = settingTable[key].schema.parse(undefined);
      return shape[key] && value !== null && value !== undefined && !shape[key].safeParse(value).success;
    });
    expect(refused).to.deep.equal([]);
  });
});
