import { expect } from 'chai';
import { settingsFrom } from '#operator/server-api/settings.ts';
import { startApi } from '#support/api.ts';
import { managed, running, texts, world } from './specs.ts';

describe('settings that a resource declares', function () {
  this.timeout(60_000);

  it('are reported where the server refuses or lacks them', async () => {
    const settings = { 'server.name': 'Ours', 'server.timeZone': 'Nowhere/Else', 'faces.enabled': true };
    const here = world({ ...managed, settings });
    here.answers.settings = { 'server.name': 'resource', 'server.timeZone': 'default', 'server.notice': 'saved' };
    await here.settle();
    expect(here.condition('SettingsValid')).to.equal('False SpecInvalid');
    expect(here.message('SettingsValid')).to.contain('values of server.timeZone and');
    expect(here.condition('Degraded')).to.equal('True SpecInvalid');
    expect(here.condition('Ready')).to.equal('True AllReady');
    here.answers.settings = { 'server.name': 'resource', 'server.timeZone': 'resource' };
    here.change({ settings: { ...settings, 'server.timeZone': 'Europe/Berlin' } });
    await here.settle();
    expect(here.condition('SettingsValid')).to.equal('False NotServed');
    expect(here.message('SettingsValid')).to.match(/^faces\.enabled: stored/);
    expect(here.condition('Degraded')).to.equal('False AllReady');
    here.change({ settings: { 'server.name': 'Ours' } });
    await here.settle();
    expect(here.condition('SettingsValid')).to.equal('True Valid');
  });

  it('have the address of the route that leads in, unless it is declared by itself', async () => {
    const settingsOf = async (spec: object): Promise<unknown> => {
      const here = await running({ ...managed, ...spec });
      const [name = ''] = here.names('Secret').filter((secret) => secret.startsWith('home-environment-'));
      const declared = JSON.parse(texts(here, name).FOYER_SETTINGS ?? '') as Record<string, unknown>;
      if (declared['server.publicUrl'] !== undefined) expect(here.status.url).to.equal(declared['server.publicUrl']);
      return declared['server.publicUrl'];
    };
    const gateway = (...hostnames: string[]) => ({ gateway: { parentRefs: [{ name: 'door' }], hostnames } });
    expect(await settingsOf({})).to.equal(undefined);
    expect(await settingsOf({ ingress: { host: 'films.example' } })).to.equal('http://films.example');
    expect(await settingsOf({ ingress: { host: 'films.example', tls: { secretName: 'tls' } } })).to.equal(
      'https://films.example',
    );
    expect(await settingsOf(gateway('*.example', 'films.example'))).to.equal('https://films.example');
    expect(await settingsOf(gateway('*.example'))).to.equal(undefined);
    expect(await settingsOf({ ingress: { host: 'not a host' } }), 'the API server refuses that one').to.equal(
      undefined,
    );
    const settings = { 'server.publicUrl': 'https://other.example' };
    expect(await settingsOf({ ingress: { host: 'films.example' }, settings })).to.equal('https://other.example');
  });

  it('are judged by the answers of a real server to the key of the operator', async () => {
    const declared = { 'server.name': 'Ours', 'server.timeZone': 'Nowhere/Else', 'email.from': 'nobody', 'x.y': 1 };
    const api = await startApi({ FOYER_SETTINGS: JSON.stringify(declared) });
    const headers = { authorization: `Bearer ${api.operatorKey}` };
    const seen = await settingsFrom(async (method, path) => {
      const response = await api.fetch(`/api/v1${path}`, { method, headers });
      return { status: response.status, body: await response.json() };
    });
    expect(seen?.inForce).to.deep.equal(['server.name']);
    expect(seen?.known).to.include.members(['server.timeZone', 'email.from']).and.not.include('x.y');
  });
});
