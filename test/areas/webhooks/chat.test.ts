import { expect } from 'chai';
import { sentenceFor } from '#areas/webhooks/chat.ts';

const escaped = (text: string): string => text.replaceAll('*', '\\*');
const sentence = (event: Parameters<typeof sentenceFor>[0]['event'], payload: object, language = 'en'): string =>
  sentenceFor({ event, payload: { ...payload } }, { names: { library: 'Films', person: '*Ann*' }, language, escaped });

describe('sentences of chat rooms', () => {
  it('count where the number is known, and only there', () => {
    expect([
      sentence('library.scan.progress', {}),
      sentence('library.scan.progress', { done: 0, total: 7 }),
      sentence('library.scan.progress', { done: 3 }),
      sentence('library.scan.completed', { durationMs: 1 }),
      sentence('library.scan.completed', { durationMs: 1, added: 0 }),
      sentence('library.scan.progress', { done: 3, total: 7 }, 'pl'),
      sentence('library.scan.completed', { added: 2 }, 'pl-PL'),
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

  it('keep hidden items unnamed, user text escaped and on one line, and fill no blank of a value', () => {
    const hidden = { person: 'nobody', item: 'hidden' };
    expect(sentence('playback.started', hidden, 'sv')).to.equal('\\*Ann\\* började spela något.');
    expect(sentence('watch.chat', { text: '{library}\n*now*' }, 'nl')).to.equal(
      '\\*Ann\\* in een gedeelde kamer: {library} \\*now\\*',
    );
  });
});
