import { expect } from 'chai';
import { matchChannels } from '../../../api/areas/live-tv/guide/mappings/matching.ts';
import { NAMED, UNKNOWN } from './channel-names.ts';

/** Of matchGuideChannels, and of the match after a refresh. */
const SURE = 0.85;

describe('names of channels', () => {
  it('find their guide in 97 of 100 spellings, and a wrong one in at most one of 100', () => {
    const candidates = NAMED.map(([guideId, names]) => ({ sourceId: 's', guideId, names, priority: 50 }));
    const spelled = [
      ...NAMED.flatMap(([guideId, , spellings]) => spellings.map((name) => ({ name, guideId }))),
      ...UNKNOWN.map((name) => ({ name, guideId: undefined })),
    ];
    const matches = matchChannels(
      spelled.map(({ name }, at) => ({ id: String(at), name, number: '1', tvgIds: [] })),
      candidates,
    ).filter(({ score }) => score >= SURE);
    const found = new Map(matches.map(({ channelId, guideId }) => [channelId, guideId]));
    const faults = spelled.filter(({ guideId }, at) => found.get(String(at)) !== guideId);
    const wrong = spelled.filter(({ guideId }, at) => (found.get(String(at)) ?? guideId) !== guideId);
    const words = faults.map(({ name }) => name).join(', ');
    expect(spelled.length).to.be.at.least(600);
    expect(1 - faults.length / spelled.length, words).to.be.at.least(0.97);
    expect(wrong.length / spelled.length, wrong.map(({ name }) => name).join(', ')).to.be.at.most(0.01);
  });

  it('prefer the guide of their country, and say that one of another country is a guess', () => {
    const of = (...ids: string[]) =>
      ids.map((guideId) => ({ sourceId: 's', guideId, names: ['Eurosport 1'], priority: 50 }));
    const best = (name: string, ...ids: string[]) =>
      matchChannels([{ id: 'x', name, number: '1', tvgIds: [] }], of(...ids))[0];
    expect(best('FR: Eurosport 1', 'a.de', 'a.fr')?.guideId).to.equal('a.fr');
    expect(best('Eurosport 1', 'a.de', 'a.fr')?.guideId).to.equal('a.de');
    expect(best('FR: Eurosport 1', 'a.de')).to.deep.include({ guideId: 'a.de', score: 0.8 });
    expect(best('GB: Eurosport 1', 'a.uk')).to.deep.include({ guideId: 'a.uk', score: 0.95 });
  });
});
