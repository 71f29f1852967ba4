import { expect } from 'chai';
import { ABSENT, errorOf } from '#support/answers.ts';
import { givenThemes, reasonOf } from '#support/themes.ts';

/** Text on the page that is reported and not rejected: a contrast of 3 to 4.5. */
const weak = { 'color.text.muted': '#787878' };

type Given = Awaited<ReturnType<typeof givenThemes>>;

describe('choosing themes', () => {
  let api: Given['api'];
  let member: Given['member'];
  let create: Given['create'];
  let read: Given['read'];
  let change: Given['change'];
  let remove: Given['remove'];
  let choose: Given['choose'];
  let sheet: Given['sheet'];
  let changedKeys: Given['changedKeys'];
  before(async () => {
    ({ api, member, create, read, change, remove, choose, sheet, changedKeys } = await givenThemes());
  });

  it('is of the profile, on every device, and is announced to that profile alone', async () => {
    const person = await api.given.member();
    const { id } = await create();
    const before = (await changedKeys()).length;
    const selection = { mode: 'light', themeId: id, darkThemeId: 'cinema', textScale: 1.25, highContrast: 'on' };
    const answer = await choose(selection, {}, api.as(person));
    expect(answer.body.selection).to.deep.equal({ ...selection, lightThemeId: null, reducedMotion: 'system' });
    const elsewhere = api.as(await api.given.again(person));
    expect((await elsewhere.listThemes()).body.selection).to.deep.equal(answer.body.selection);
    expect((await member.listThemes()).body.selection.themeId).to.not.equal(id);
    expect((await changedKeys()).length).to.equal(before);
    const announced = await api.deps.db('outbox').where({ event: 'state.changed' }).pluck('payload');
    expect(announced).to.have.length(1);
    expect(announced[0])
      .to.include({ profileId: person.profileId })
      .and.deep.include({ what: ['preferences'] });
    expect((await read(id)).usedBy).to.equal(1);
    expect((await member.getTheme({ params: { id } })).body).to.not.have.property('usedBy');
  });

  it('rejects unknown themes, allowChoice of a profile, and a member for the server', async () => {
    expect((await choose({ themeId: ABSENT }, {}, member)).status).to.equal(404);
    expect((await choose({ lightThemeId: ABSENT }, { scope: 'server' })).status).to.equal(404);
    expect((await choose({}, { allowChoice: true }, member)).status).to.equal(400);
    const refused = await choose({}, { scope: 'server' }, member);
    expect(errorOf(refused).details.permission).to.equal('settings:manage');
    for (const textScale of [0.7, 1.7]) expect((await choose({ textScale }, {}, member)).status).to.equal(400);
  });

  it('of the server needs every pair readable, is announced once, and cannot be deleted', async () => {
    const { id } = await create({ schemes: { dark: weak } });
    const refused = await choose({ themeId: id }, { scope: 'server' });
    expect(errorOf(refused).details).to.include({ reason: 'contrast' });
    const pairs = errorOf(refused).details['pairs'] as { pair: string; ok: boolean }[];
    expect(pairs.map(({ pair }) => pair)).to.include('text.muted on surface.0');
    await change(id, { schemes: { dark: { 'color.text.muted': null } } });
    const before = (await changedKeys()).length;
    const chosen = await choose({ themeId: id, mode: 'light', textScale: 1.1 }, { scope: 'server' });
    expect(chosen.body.serverDefault).to.deep.equal({ themeId: id, mode: 'light', allowChoice: true });
    await choose({ themeId: id, mode: 'light', textScale: 1.1 }, { scope: 'server' });
    expect((await changedKeys()).slice(before)).to.deep.equal(['themes.default']);
    const fresh = api.as(await api.given.member());
    expect((await fresh.listThemes()).body.selection).to.include({ mode: 'light', themeId: null, textScale: 1.1 });
    expect((await read(id)).serverDefault).to.equal(true);
    expect(reasonOf(await remove(id))).to.equal('server-default');
    expect(reasonOf(await change(id, { schemes: { dark: weak } }))).to.equal('contrast');
    await change(id, { schemes: { dark: { 'color.nav': '#101010' } } });
    expect((await changedKeys()).slice(before)).to.deep.equal(['themes.default', 'themes.default']);
    expect((await sheet('default')).text).to.include('--fy-color-nav:#101010');
    await choose({}, { scope: 'server' });
  });

  it('of the server depends on its bases too', async () => {
    const base = await create();
    const { id } = await create({ base: base.id });
    await choose({ darkThemeId: id }, { scope: 'server' });
    const before = (await changedKeys()).length;
    expect(reasonOf(await change(base.id, { schemes: { dark: weak } }))).to.equal('contrast');
    await change(base.id, { schemes: { dark: { 'color.nav': '#131313' } } });
    await change(base.id, { author: 'nobody' });
    expect((await changedKeys()).length).to.equal(before + 1);
    expect((await sheet('default', { scheme: 'dark' })).text).to.include('--fy-color-nav:#131313');
    await choose({}, { scope: 'server' });
  });

  it('leaves a profile mode, size, motion and contrast where it may choose no theme, and its theme for later', async () => {
    const person = api.as(await api.given.member());
    await choose({ themeId: 'cinema' }, {}, person);
    await choose({}, { scope: 'server', allowChoice: false });
    expect((await person.listThemes()).body.selection.themeId).to.equal(null);
    expect(errorOf(await choose({ themeId: 'foyer-light' }, {}, person)).details.by).to.equal('allow-choice');
    const answer = await choose({ mode: 'dark', reducedMotion: 'on' }, {}, person);
    expect(answer.body).to.deep.include({
      serverDefault: { themeId: 'foyer-dark', mode: 'system', allowChoice: false },
    });
    expect(answer.body.selection).to.include({ mode: 'dark', reducedMotion: 'on', themeId: null });
    await choose({}, { scope: 'server', allowChoice: true });
    expect((await person.listThemes()).body.selection).to.include({ mode: 'dark', themeId: 'cinema' });
  });
});
