import { expect } from 'chai';
import { isOpen, type Phase, phaseAfter, type Step } from '../../../../web/src/core/player/machine.ts';

const PHASES: readonly Phase[] = ['idle', 'deciding', 'loading', 'playing', 'paused', 'buffering', 'ended', 'failed'];

describe('the phases of the player', () => {
  const run = (steps: readonly Step[], from: Phase = 'idle'): Phase => steps.reduce(phaseAfter, from);

  it('leads from a decision to the end', () => {
    expect(run(['open', 'decided', 'play', 'wait', 'play', 'pause', 'play', 'end'])).to.equal('ended');
  });

  it('stays paused while data is missing, so that nothing plays by itself', () => {
    expect(run(['open', 'decided', 'pause', 'wait'])).to.equal('paused');
  });

  it('can be closed in every phase, and loads again in every phase that had a source', () => {
    for (const phase of PHASES) expect(phaseAfter(phase, 'close'), phase).to.equal('idle');
    for (const phase of PHASES.filter(isOpen)) expect(phaseAfter(phase, 'reload'), phase).to.equal('loading');
  });

  it('knows no way from a failure but another try', () => {
    for (const step of ['play', 'pause', 'wait', 'end', 'decided'] as const)
      expect(phaseAfter('failed', step), step).to.equal('failed');
    expect(run(['open', 'decided', 'play'], 'failed')).to.equal('playing');
  });
});
