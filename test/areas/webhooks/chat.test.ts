import { expect } from 'chai';
import { sentenceFor } from '#areas/webhooks/chat.ts';

const escaped = (text: string): string => text.replaceAll('*', '\\*');
const said = (event: Parameters<typeof sentenceFor>[0]['event'], payload: object, language = 'en'): string =>
  sentenceFor({ event, payload: { ...payload } }, { names: { library: 'Films', person: '*Ann*' }, language, escaped });

describe('sentences of chat rooms', () => {
  it('count where the number is known, and only there', () => {
    expect([
      said('library.scan.progress', {}),
      said('library.scan.progress', { done: 0, total: 7 }),
      said('library.scan.progress', { done: 3 }),
      said('library.scan.completed', { durationMs: 1 }),
      said('library.scan.completed', { durationMs: 1, added: 0 }),
      said('library.scan.progress', { done: 3, total: 7 }, 'pl'),
      said('library.scan.completed', { added: 2 }, 'pl-PL'),
    ]).to.deep.equal([
      'Films is being scanned.',
      'Films is being scanned: 0 of 7.',
      'Films is being scanned: 3 of ?.',
      'The scan of Films is done.',
      'The scan of Films is done: 0 new.',
      'Trwa skanowanie: Films (3 z 7).',
      'Zakończono skanowanie: Films (nowe: 2).',
    ]);
  });

  it('hold what is not to be seen unnamed, what is said escaped and on one line, and no blank of a value filled', () => {
    const hidden = { person: 'nobody', item: 'hidden' };
    expect(said('playback.started', hidden, 'sv')).to.equal('\\*Ann\\* började spela något.');
    expect(said('watch.chat', { text: '{library}\n*now*' }, 'nl')).to.equal(
      '\\*Ann\\* in een gedeelde kamer: {library} \\*now\\*',
    );
  });
});
