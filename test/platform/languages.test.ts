import { expect } from 'chai';
import type { z } from 'zod';
import { MailTexts } from '#areas/email/content/texts.ts';
import { languageFor, NotificationTexts, severalIn, textOf } from '#areas/notifications/texts.ts';
import { PlusTexts } from '#areas/plus/texts.ts';
import { SettingsTexts } from '#areas/settings/texts.ts';
import { ChatTexts } from '#areas/webhooks/texts.ts';
import { languages, languageWithTexts, pluralText, textsOf } from '#platform/languages.ts';

const PARTS: [string, z.ZodType][] = [
  ['notifications', NotificationTexts],
  ['mail', MailTexts],
  ['chat', ChatTexts],
  ['plus', PlusTexts],
  ['settings', SettingsTexts],
];

/** Every text of it, by its place. */
function textsIn(value: unknown, place: readonly string[] = []): [string, string][] {
  if (typeof value === 'string') return [[place.join('.'), value]];
  return Object.entries(value ?? {}).flatMap(([key, one]) => textsIn(one, [...place, key]));
}

const blanksIn = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

describe('languages of mails, notifications, chat rooms, Plus and settings', () => {
  it('are those of many households, by their tags', () => {
    expect(languages).to.include.members([
      ...['cs', 'da', 'de', 'en', 'es', 'fi', 'fr', 'it', 'ja', 'ko', 'nb', 'nl', 'pl', 'pt', 'sv', 'uk', 'zh'],
    ]);
    for (const tag of languages) expect(new Intl.Locale(tag).baseName).to.equal(tag);
  });

  for (const tag of languages)
    for (const [part, schema] of PARTS)
      it(`${tag}, ${part}: has every text, with the blanks of the English one and none empty`, () => {
        const { tag: own, ...texts } = textsOf<object>(part, schema as z.ZodType<object>)(tag);
        expect(own).to.equal(tag);
        const english = new Map(textsIn(textsOf<object>(part, schema as z.ZodType<object>)('en')));
        for (const [place, text] of textsIn(texts)) {
          expect(text.trim(), place).to.equal(text).and.not.equal('');
          const model =
            english.get(place) ??
            english.get(place.replace(/\.\w+$/, '.other')) ??
            english.get(place.replace(/\.\w+$/, ''));
          const wanted = place.endsWith('.one') ? blanksIn(text) : blanksIn(model ?? '');
          expect(blanksIn(text), `${place}: ${text}`).to.deep.equal(wanted);
        }
      });

  it('are found by any tag: of a region, of another kind of Norwegian, and English for one without texts', () => {
    const found = ['fr-CA', 'DE-at', 'nn', 'no-NO', 'tlh', null].map(languageWithTexts);
    expect(found).to.deep.equal(['fr', 'de', 'nb', 'nb', 'en', 'en']);
    const plain = textOf({ kind: 'new-episode', data: { name: 'Solaris' }, count: 1 }, languageFor('fr-CA'));
    expect(plain).to.deep.equal({ title: 'Nouvel épisode', body: 'Un nouvel épisode de Solaris est là.' });
    expect(severalIn(languageFor('de'), 1200)).to.equal('1.200 neue Mitteilungen');
  });

  it('count by the rules of the language', () => {
    const forms = { one: 'jeden', few: '{count} filmy', many: '{count} filmów', other: '{count} filmu' };
    expect([1, 3, 5, 22].map((count) => pluralText('pl', forms, count))).to.deep.equal([
      'jeden',
      '3 filmy',
      '5 filmów',
      '22 filmy',
    ]);
  });
});
