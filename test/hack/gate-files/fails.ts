import { expect } from 'chai';

describe('a file that fails', () => {
  it('passes', () => expect(1).to.equal(1));
  it('fails', () => expect('another outcome').to.equal('the expected outcome'));
});
