// The committed description: valid for two validators that know nothing of each other, clean under lint, and complete.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';

interface Operation {
  operationId: string;
  summary: string;
  responses: Record<string, object>;
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
    // A licence is the repository's to say; areas have names, and their operations descriptions.
    const rules = { 'info-license': 'off', 'tag-description': 'off' } as const;
    const config = await createConfig({ extends: ['recommended'], rules });
    const problems = await lintFromString({ source, config, absoluteRef: 'api/openapi.json' });
    const told = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
    expect(told).to.deep.equal([]);
  });

  it('says of each operation its name, permission, credentials and errors', () => {
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
});
