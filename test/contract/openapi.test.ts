// The committed description: valid for two independent validators, clean under lint, and complete.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { z } from 'zod';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { NO_EXAMPLE } from '#kernel/example.ts';

interface Parameter {
  name: string;
  schema: Record<string, unknown>;
}

type Content = Record<string, { schema?: { type?: string; format?: string }; example?: unknown }>;

interface Operation {
  operationId: string;
  summary: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
  'x-permission': string;
  'x-credentials': string[];
}

describe('the description of the API', () => {
  const source = readFileSync('api/openapi.json', 'utf8');
  const { paths } = JSON.parse(source) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  it('is valid OpenAPI 3.1 for one validator', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(source) as Record<string, unknown>);
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
  });

  it('is valid for another, and clean under its lint', async () => {
    // The repository states the licence; areas have names, and their operations descriptions.
    const rules = {
      'info-license': 'off',
      'tag-description': 'off',
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: false },
    } as const;
    const config = await createConfig({ extends: ['recommended'], rules });
    const problems = await lintFromString({ source, config, absoluteRef: 'api/openapi.json' });
    const findings = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
    expect(findings).to.deep.equal([]);
  });

  it('states for each operation its name, permission, credentials and errors', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).to.equal(names.length);
    for (const { operation, path, method } of operations) {
      const what = `${method} ${path}`;
      expect(operation.operationId, what).to.match(/^[a-z][A-Za-z0-9]+$/);
      expect(operation.summary, what).to.match(/^\S.{3,}/);
      expect(operation['x-permission'], what).to.match(/^([a-zA-Z]+:[a-z]+|public|signed-in|person|owner)$/);
      expect(operation['x-credentials'], what).to.be.an('array');
      const refusals = Object.keys(operation.responses).filter((status) => status >= '400');
      expect(refusals, what).to.include.members(['400', '500', '503']);
      if (operation['x-permission'] !== 'public') expect(refusals, what).to.include('401');
    }
  });

  const RECORDS = ['application/json', 'application/x-www-form-urlencoded'];
  const TEXTS = /^text\/|mpegurl|ndjson/;
  const served = new Map(areas.flatMap((area) => area.endpoints as readonly Endpoint[]).map((e) => [e.operationId, e]));
  const answersOf = ({ responses }: Operation) =>
    Object.entries(responses).filter(([status]) => status.startsWith('2'));

  it('declares the fields of each sort', () => {
    const declared = ['x-sort', 'x-list', 'const'];
    const sorts = operations.flatMap(({ operation: { operationId, parameters = [] } }) =>
      parameters.filter(({ name }) => name === 'sort').map(({ schema }) => ({ operationId, schema })),
    );
    expect(sorts).to.have.length.greaterThan(15);
    const silent = sorts.filter(({ schema }) => !declared.some((key) => key in schema));
    expect(silent.map(({ operationId }) => operationId)).to.deep.equal([]);
  });

  it('has an example of each body and each success answer that is no bytes', () => {
    for (const { operation } of operations) {
      const contents = [operation.requestBody?.content, ...answersOf(operation).map(([, { content }]) => content)];
      for (const [type, media] of contents.flatMap((content) => Object.entries(content ?? {})))
        if (RECORDS.includes(type) || TEXTS.test(type))
          expect(media, `${operation.operationId} ${type}`).to.have.property('example');
    }
  });

  it('has examples that the server would take and could answer', () => {
    for (const { operation } of operations) {
      const { body, answer, operationId } = served.get(operation.operationId) as Endpoint;
      for (const [type, { example }] of Object.entries(operation.requestBody?.content ?? {}))
        if (RECORDS.includes(type) && body) expect(z.safeParse(body, example).error, operationId).to.equal(undefined);
      if (answer.kind !== 'json' && answer.kind !== 'page') continue;
      for (const [, { content }] of answersOf(operation)) {
        const { example } = content?.['application/json'] ?? {};
        expect(z.safeParse(answer.schema, example).error, operationId).to.equal(undefined);
      }
    }
  });

  it('has natural examples: no id but a UUIDv7, no member filled with its own name', () => {
    const look = (value: unknown, name: string, where: string): void => {
      if (typeof value === 'string') {
        if (/^[0-9a-f]{8}-/.test(value) && name !== 'uid') expect(value, where).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        expect(value, `${where}: ${name}`).to.not.equal(name);
        expect(value, `${where}: ${name}`).to.not.include(NO_EXAMPLE);
      } else if (Array.isArray(value)) for (const one of value) look(one, name, where);
      else for (const [key, one] of Object.entries(value ?? {})) look(one, key, where);
    };
    for (const { operation } of operations)
      for (const { content } of [operation.requestBody ?? {}, ...answersOf(operation).map(([, answer]) => answer)])
        for (const { example } of Object.values((content ?? {}) as Content)) look(example, '', operation.operationId);
  });
});
