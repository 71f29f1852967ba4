import { expect } from 'chai';
import { defaultVersion, lookOf } from '../../../web/src/core/look/look.ts';

const theme = (id: string, ...schemeNames: ('dark' | 'light')[]) =>
  ({ id, schemeNames, stylesheetUrl: `/sheet/${id}` }) as never;
const items = [
  theme('house', 'dark', 'light'),
  theme('day', 'light'),
  theme('own', 'dark'),
  theme('high-contrast', 'dark'),
];
const selection = {
  mode: 'system',
  themeId: null,
  lightThemeId: null,
  darkThemeId: null,
  textScale: 1,
  reducedMotion: 'system',
  highContrast: 'system',
} as const;
const serverDefault = { themeId: 'house', mode: 'system', allowChoice: true } as const;
const look = (chosen: object = {}, server: object = {}) =>
  lookOf({ items, selection: { ...selection, ...chosen }, serverDefault: { ...serverDefault, ...server } });

describe('the look of a profile', () => {
  it('leaves the default theme to the shell, and links another one by its version', () => {
    expect(look().dark).to.deep.equal({ scheme: 'dark' });
    expect(look({ themeId: 'own' }).dark).to.deep.equal({ scheme: 'dark', sheet: '/sheet/own' });
    expect(defaultVersion({ items, selection, serverDefault })).to.equal('/sheet/house');
  });

  it('prefers the theme of a scheme to the theme of both, and the own one to that of the server', () => {
    expect(look({ themeId: 'own', lightThemeId: 'day' }).light.sheet).to.equal('/sheet/day');
    expect(look({}, { lightThemeId: 'day' }).light.sheet).to.equal('/sheet/day');
    expect(look({ themeId: 'own' }, { lightThemeId: 'day' }).light.sheet).to.equal('/sheet/own');
  });

  it('takes the scheme that a theme has', () => {
    expect(look({ themeId: 'own' }).light.scheme).to.equal('dark');
    expect(look({ themeId: 'day' }).dark.scheme).to.equal('light');
  });

  it('takes high contrast from the selection, else from the device', () => {
    expect(look({ highContrast: 'on' }).dark.sheet).to.equal('/sheet/high-contrast');
    expect(look({}).contrast?.dark.sheet).to.equal('/sheet/high-contrast');
    expect(look({}).dark.sheet).to.equal(undefined);
    expect(look({ highContrast: 'off' }).contrast).to.equal(null);
  });

  it('falls back to the default theme after a deletion', () => {
    expect(look({ themeId: 'deleted' }).dark).to.deep.equal({ scheme: 'dark' });
  });
});
