import { expect } from 'chai';
import { readConfig } from '#platform/config.ts';

const good = {
  FOYER_DATABASE_URL: 'postgres://foyer:pa55@db/foyer',
  FOYER_REDIS_URL: 'redis://:pa55@redis:6379/0',
  FOYER_OBJECTS_URL: 's3://access:s3cret@store:9000/?prefix=a-',
  FOYER_KEYS_FILE: '/run/keys.json',
};

const faultsOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was taken');
};

describe('config', () => {
  it('fills missing values and reads the given ones', () => {
    expect(readConfig(good)).to.include({ host: '127.0.0.1', port: 8080, openSetup: false, claimFrom: 'none' });
    const roots = [{ id: '01900000-0000-7000-8000-000000000001', name: 'films', path: '/media' }];
    const parsed = readConfig({ ...good, FOYER_PORT: '0', FOYER_MEDIA_ROOTS: JSON.stringify(roots) });
    expect(parsed.port).to.equal(0);
    expect(parsed.mediaRoots).to.deep.equal([{ ...roots[0], readOnly: true }]);
  });

  it('names every fault at once', () => {
    const wrong = {
      FOYER_KEYS_FILE: '/run/keys.json',
      FOYER_OBJECTS_URL: 'http://store/',
      FOYER_PORT: '70000',
      FOYER_REPLICAS: 'many',
      FOYER_MEDIA_ROOTS: '[{"name":"films"}]',
      FOYER_SETTINGS: '{',
      FOYER_CLAIM_SHA256: 'XYZ',
      FOYER_CLAIM_FROM: 'heaven',
    };
    const faults = faultsOf(wrong);
    const expected = ['FOYER_DATABASE_URL', 'FOYER_REDIS_URL', ...Object.keys(wrong).slice(1)];
    for (const name of expected) expect(faults).to.include(`${name}:`);
    expect(faults).to.not.include('FOYER_KEYS_FILE');
  });

  it('refuses the address of a store that is of another kind', () => {
    expect(faultsOf({ ...good, FOYER_DATABASE_URL: 'mysql://db/foyer' })).to.include('FOYER_DATABASE_URL');
    expect(faultsOf({ ...good, FOYER_REDIS_URL: 'localhost:6379' })).to.include('FOYER_REDIS_URL');
    expect(faultsOf({ ...good, FOYER_OBJECTS_URL: '' })).to.include('FOYER_OBJECTS_URL');
  });

  it('repeats no value, since some are secret', () => {
    const secret = 'hunter2hunter2';
    for (const name of [
      ...['FOYER_DATABASE_URL', 'FOYER_REDIS_URL', 'FOYER_OBJECTS_URL', 'FOYER_CLAIM_SHA256', 'FOYER_PORT'],
      ...['FOYER_OPERATOR_KEY_SHA256', 'FOYER_SETTINGS', 'FOYER_MEDIA_ROOTS', 'FOYER_MANAGED_BY', 'FOYER_CLAIM_FROM'],
    ]) {
      const faults = faultsOf({ ...good, [name]: secret });
      expect(faults).to.include(name).and.not.include(secret);
      const inside = faultsOf({ ...good, [name]: `{"password":"${secret}"}`, FOYER_LOG_LEVEL: secret });
      expect(inside).to.not.include(secret).and.not.include('password');
    }
  });
});
