import { expect } from 'chai';
import { FoyerError } from '../../../api/client/index.ts';
import { isPassing, issuesOf, problemOf } from '../../../web/src/core/api/errors.ts';
import { keyOf } from '../../../web/src/core/api/keys.ts';
import { safePath, signInPath } from '../../../web/src/core/browser/paths.ts';
import { holds } from '../../../web/src/core/cache/items.ts';
import { bestLanguage } from '../../../web/src/core/messages/choose.ts';
import { text, useTexts } from '../../../web/src/core/messages/text.ts';

describe('the path to go on with', () => {
  it('is one of this app', () => {
    for (const path of ['/', '/item/1?x=y', '/library/a#b']) expect(safePath(path)).to.equal(path);
    for (const path of [
      '//evil.example/',
      'https://evil.example/',
      '/\\evil.example',
      'javascript:alert(1)',
      '',
      null,
      '/sign-in?return=/sign-in',
    ])
      expect(safePath(path), String(path)).to.equal('/');
    expect(signInPath('/item/1')).to.equal('/sign-in?return=%2Fitem%2F1');
    expect(signInPath('/')).to.equal('/sign-in');
  });
});

describe('the key of a query', () => {
  it('is the same for the same input, whatever its order, and leaves absent parts out', () => {
    const one = keyOf('listLibraryItems', { params: { id: 'a' }, query: { sort: 'title', filter: undefined } });
    expect(one).to.deep.equal(keyOf('listLibraryItems', { params: { id: 'a' }, query: { sort: 'title' } }));
    expect(JSON.stringify(one)).to.equal('["listLibraryItems",{"id":"a","sort":"title"}]');
    expect(keyOf('getMe')).to.deep.equal(['getMe', {}]);
  });

  it('finds the answers that hold an item, at any depth that answers have', () => {
    const ids = new Set(['b']);
    expect(holds(['getItem', { id: 'b' }], undefined, ids)).to.equal(true);
    expect(holds(['listItems', {}], { items: [{ id: 'a' }, { id: 'b' }] }, ids)).to.equal(true);
    expect(holds(['listItems', {}], { items: [{ id: 'a', name: 'b' }] }, ids)).to.equal(false);
  });
});

describe('a problem', () => {
  const refusal = new FoyerError({
    status: 400,
    code: 'VALIDATION_FAILED',
    message: 'The request is not valid',
    requestId: 'r',
    details: { issues: [{ path: ['body', 'password'], code: 'weak_password', message: 'too weak' }] },
  });

  it('keeps code, request id and the issues of each field', () => {
    const problem = problemOf(refusal);
    expect(problem).to.include({ code: 'VALIDATION_FAILED', requestId: 'r', status: 400 });
    expect(issuesOf(problem, 'password').map(({ code }) => code)).to.deep.equal(['weak_password']);
    expect(issuesOf(problem, 'username')).to.deep.equal([]);
    expect(isPassing(problem)).to.equal(false);
  });

  it('passes by itself where the server cannot be reached, and is ours where script failed', () => {
    expect(isPassing(problemOf(new TypeError('Failed to fetch')))).to.equal(true);
    expect(problemOf(new TypeError('x is not a function')).code).to.equal('unexpected');
  });
});

describe('texts', () => {
  it('are of the first language that a person reads, by its base if needed', () => {
    const known = ['de', 'en', 'nb'];
    expect(bestLanguage(['fr-FR', 'de-AT'], known)).to.equal('de');
    expect(bestLanguage(['nn'], known)).to.equal('nb');
    expect(bestLanguage(['xx'], known)).to.equal('en');
  });

  it('take values once and plurals by the rules of the language', () => {
    useTexts('en', { a: 'Hello {name}', b: { one: '{count} film', other: '{count} films' } });
    expect(text('a', { name: '{count} <b>' })).to.equal('Hello {count} <b>');
    expect([text('b', { count: 1 }), text('b', { count: 1200 })]).to.deep.equal(['1 film', '1,200 films']);
    expect(text('missing')).to.equal('missing');
  });
});
