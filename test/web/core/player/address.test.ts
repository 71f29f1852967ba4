import { expect } from 'chai';
import { openRequest, playPath } from '../../../../web/src/core/player/address.ts';

describe('the address of the player', () => {
  const read = (path: string) => openRequest(new URL(path, 'http://foyer').search);

  it('holds the start and the edition, and is read as it was written', () => {
    for (const from of [{}, { startMs: 0 }, { startMs: 61_500 }, { fileId: 'a' }, { startMs: 1, fileId: 'b' }])
      expect(read(playPath('x', from))).to.deep.equal(from);
  });

  it('resumes for a start that is no time', () => {
    for (const search of ['?t=', '?t=-1', '?t=soon', '?t=Infinity'])
      expect(read(`/play/x${search}`)).to.not.have.property('startMs');
  });
});
