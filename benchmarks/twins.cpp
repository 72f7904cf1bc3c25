// What anyone could write in an afternoon: policies that step from round to round.
//
//   twins POLICY MATRIX RUNS HORIZON
//
// Written from the papers. Signs instead of Beta draws where only signs matter, tails
// and indices per pair, sets refreshed when they change. Prints processor seconds and the
// mean number of duels of different arms.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

struct Generator {  // xoshiro256** (Blackman and Vigna 2021), for the standard library.
    using result_type = uint64_t;
    uint64_t s[4];
    explicit Generator(uint64_t seed) {
        std::mt19937_64 words(seed);
        for (auto& each : s) each = words();
    }
    static constexpr uint64_t min() { return 0; }
    static constexpr uint64_t max() { return UINT64_MAX; }
    static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    uint64_t operator()() {
        uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
        s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3];
        s[2] ^= t; s[3] = rotate(s[3], 45);
        return result;
    }
    double uniform() { return ((*this)() >> 11) * 0x1p-53; }
    int below(int n) { return int(uniform() * n); }
};

struct World {
    int K;
    std::vector<double> p;
    std::vector<long> wins;
    Generator rng;
    long duels = 0;
    World(int K, const std::vector<double>& p, uint64_t seed)
        : K(K), p(p), wins(K * K, 0), rng(seed) {}
    long w(int i, int j) const { return wins[i * K + j]; }
    long n(int i, int j) const { return w(i, j) + w(j, i); }
    double mean(int i, int j) const { return n(i, j) ? double(w(i, j)) / n(i, j) : 0.5; }
    void duel(int i, int j) {  // The caller refreshes what hangs on the pair.
        bool won = rng.uniform() < p[i * K + j];
        wins[won ? i * K + j : j * K + i]++;
        duels++;
    }
    // Log of the last round at which the bounds exclude 1/2.
    double resolution(int i, int j, double alpha) const {
        double gap = double(w(i, j) - w(j, i));
        return n(i, j) ? gap * gap / (4 * alpha * n(i, j)) : -1.0;
    }
};

// P(theta > 1/2) under Beta(w + 1, l + 1): the smaller tail as a sum of falling terms.
double probability(long w, long l) {
    long n = w + l, fewer = std::min(w, l);
    double log_term = std::lgamma(n + 2.0) - std::lgamma(fewer + 1.0) -
                      std::lgamma(n - fewer + 2.0) - (n + 1) * std::log(2.0);
    double sum = 1, term = 1;
    for (long k = fewer; k > 0 && term > 1e-16 * sum; k--) {
        term *= double(k) / (n + 2 - k);
        sum += term;
    }
    double tail = std::min(0.5, std::exp(log_term) * sum);
    return w > l ? 1 - tail : tail;
}

double beta_above_half(Generator& rng, long a, long b) {
    std::gamma_distribution<double> one(a, 1), other(b, 1);
    for (;;) {
        double x = one(rng), y = other(rng), theta = x / (x + y);
        if (theta > 0.5) return theta;
    }
}

double kl_to_half(double gap) {
    double u = 2 * std::abs(gap);
    if (u >= 1) return std::log(2.0);
    return 0.5 * ((1 + u) * std::log1p(u) + (1 - u) * std::log1p(-u));
}

void double_thompson(World& world, long horizon, bool by_regret) {
    const int K = world.K;
    const double alpha = 0.51;
    Generator& rng = world.rng;
    std::vector<double> q(K * K, 0.5), x(K * K, -1.0), regret(K);
    std::vector<int> candidates, tied, votes(K), rivals;
    std::vector<char> eligible(K * K), sign(K * K);
    double until = -1;
    for (long t = 1; t <= horizon; t++) {
        if (t > until) {  // Wu and Liu (2016), Algorithm 1: u > 1/2 and l <= 1/2.
            double log_t = std::log(double(t)), next = 1e300;
            int most = -1;
            candidates.clear();
            for (int i = 0; i < K; i++) {
                int score = 0;
                for (int j = 0; j < K; j++) if (i != j) {
                    bool open = log_t > x[i * K + j], ahead = world.w(i, j) > world.w(j, i);
                    score += open || ahead;
                    eligible[i * K + j] = open || !ahead;
                    if (!open) next = std::min(next, x[i * K + j]);
                }
                if (score > most) { most = score; candidates.clear(); }
                if (score == most) candidates.push_back(i);
            }
            until = std::max(double(t), next > 43 ? 9e18 : std::floor(std::exp(next)));
        }
        int first = candidates[0];
        if (candidates.size() > 1) {
            std::fill(votes.begin(), votes.end(), 0);
            for (int i = 0; i < K; i++)
                for (int j = i + 1; j < K; j++) {
                    bool up = rng.uniform() < q[i * K + j];
                    sign[i * K + j] = up; sign[j * K + i] = !up;
                    votes[i] += up; votes[j] += !up;
                }
            int most = -1;
            for (int i : candidates) {
                if (votes[i] > most) { most = votes[i]; tied.clear(); }
                if (votes[i] == most) tied.push_back(i);
            }
            first = tied[tied.size() > 1 ? rng.below(int(tied.size())) : 0];
            if (by_regret && tied.size() > 1) {
                int best = *std::max_element(votes.begin(), votes.end());
                std::fill(regret.begin(), regret.end(), 0.0);
                for (int i : tied)
                    for (int j = 0; j < K; j++) {
                        bool both = std::find(tied.begin(), tied.end(), j) != tied.end();
                        int loss = 2 * best - votes[i] - votes[j];
                        if (i == j || loss == 0 || (both && j < i)) continue;
                        bool up = sign[i * K + j];
                        int a = up ? i : j, b = up ? j : i;
                        double theta = beta_above_half(rng, world.w(a, b) + 1, world.w(b, a) + 1);
                        double term = loss / std::max(kl_to_half(theta - 0.5), 1e-300);
                        regret[i] += term;
                        if (both) regret[j] += term;
                    }
                first = *std::min_element(tied.begin(), tied.end(), [&](int i, int j) {
                    return regret[i] < regret[j]; });
            }
        }
        rivals.clear();
        for (int i = 0; i < K; i++)
            if (i != first && eligible[i * K + first] && rng.uniform() < q[i * K + first])
                rivals.push_back(i);
        int second = rivals.empty() ? first : rivals[0];
        if (rivals.size() > 1) {
            double largest = -1;
            for (int i : rivals) {
                double theta = beta_above_half(
                    rng, world.w(i, first) + 1, world.w(first, i) + 1);
                if (theta > largest) { largest = theta; second = i; }
            }
        }
        if (first == second) continue;
        world.duel(first, second);
        double up = probability(world.w(first, second), world.w(second, first));
        q[first * K + second] = up; q[second * K + first] = 1 - up;
        x[first * K + second] = x[second * K + first] = world.resolution(first, second, alpha);
        until = -1;
    }
}

// Zoghi et al. (2014), Algorithm 1. With `ahead`, rounds in which a sure winner meets
// itself are passed over: until the first of its pairs opens, as only log t changes.
void relative_ucb(World& world, long horizon, bool ahead) {
    const int K = world.K;
    const double alpha = 0.51;
    Generator& rng = world.rng;
    std::vector<double> x(K * K, -1.0);
    std::vector<int> candidates, best;
    int hypothesis = -1;
    double until = -1;
    for (long t = 1; t <= horizon; t++) {
        double log_t = std::log(double(t));
        if (t > until) {
            double next = 1e300;
            candidates.clear();
            for (int i = 0; i < K; i++) {
                bool possible = true;
                for (int j = 0; j < K; j++)
                    if (world.w(i, j) < world.w(j, i) && log_t < x[i * K + j]) {
                        possible = false;
                        next = std::min(next, x[i * K + j]);
                    }
                if (possible) candidates.push_back(i);
            }
            until = std::max(double(t), next > 43 ? 9e18 : std::ceil(std::exp(next)) - 1);
        }
        int size = int(candidates.size()), champion;
        if (ahead && size == 1) {
            const int winner = candidates[0];
            double opens = 1e300;
            for (int j = 0; j < K; j++)
                if (j != winner)
                    opens = world.w(winner, j) > world.w(j, winner)
                        ? std::min(opens, x[winner * K + j]) : -1.0;
            if (opens > log_t) {
                hypothesis = winner;
                t = opens > 43 ? horizon : long(std::ceil(std::exp(opens))) - 1;
                continue;
            }
        }
        bool kept = std::find(candidates.begin(), candidates.end(), hypothesis) !=
                    candidates.end();
        if (!kept) hypothesis = -1;
        if (size == 0) champion = rng.below(K);
        else if (size == 1) champion = hypothesis = candidates[0];
        else if (hypothesis < 0) champion = candidates[rng.below(size)];
        else if (rng.uniform() < 0.5) champion = hypothesis;
        else do champion = candidates[rng.below(size)]; while (champion == hypothesis);
        double largest = -1;
        best.clear();
        for (int j = 0; j < K; j++) {
            long n = world.n(j, champion);
            double upper = j == champion ? 0.5
                : n ? double(world.w(j, champion)) / n + std::sqrt(alpha * log_t / n) : 2.0;
            if (upper > largest) { largest = upper; best.clear(); }
            if (upper == largest) best.push_back(j);
        }
        int other = best[0];
        if (best.size() > 1)
            do other = best[rng.below(int(best.size()))]; while (other == champion);
        if (other == champion) continue;
        world.duel(champion, other);
        x[champion * K + other] = x[other * K + champion] =
            world.resolution(champion, other, alpha);
        until = -1;
    }
}

void rmed1(World& world, long horizon) {  // Komiyama et al. (2015), Algorithms 1 and 2.
    const int K = world.K;
    const double f = 0.3 * std::pow(K, 1.01);
    Generator& rng = world.rng;
    std::vector<double> evidence(K * K, 0.0), likelihood(K, 0.0);
    std::vector<int> order(K), current, next;
    std::vector<char> remaining(K, 1), listed(K, 0);
    for (int i = 0; i < K; i++) order[i] = i;
    std::shuffle(order.begin(), order.end(), rng);
    int best = order[0];
    auto play = [&](int i, int j) {
        world.duel(i, j);
        double term = world.n(i, j) * kl_to_half(world.mean(i, j) - 0.5);
        for (auto [a, b] : {std::pair{i, j}, std::pair{j, i}}) {
            evidence[a * K + b] = world.mean(a, b) <= 0.5 ? term : 0.0;
            double sum = 0;
            for (int k = 0; k < K; k++) sum += evidence[a * K + k];
            likelihood[a] = sum;
        }
        best = order[0];
        for (int i : order) if (likelihood[i] < likelihood[best]) best = i;
    };
    long t = 0;
    for (int i = 0; i < K; i++)
        for (int j = i + 1; j < K && t < horizon; j++) { t++; play(i, j); }
    current = order;
    while (t < horizon) {
        for (int arm : current) {
            if (t == horizon) break;
            t++;
            bool beaten = false;
            int other = -1;
            for (int j : order) if (j != arm) {
                beaten |= world.mean(arm, j) <= 0.5;
                if (other < 0 || world.mean(arm, j) < world.mean(arm, other)) other = j;
            }
            if (!beaten || (best != arm && world.mean(arm, best) <= 0.5)) other = best;
            if (other != arm) play(arm, other);
            remaining[arm] = 0;
            double level = std::log(double(t)) + f + likelihood[best];
            for (int j : order)
                if (!remaining[j] && !listed[j] && likelihood[j] <= level) {
                    listed[j] = 1;
                    next.push_back(j);
                }
        }
        current.swap(next);
        next.clear();
        std::fill(listed.begin(), listed.end(), 0);
        for (int arm : current) remaining[arm] = 1;
    }
}

int main(int count, char** arguments) {
    if (count != 5) return 2;
    std::FILE* file = std::fopen(arguments[2], "r");
    int K;
    if (!file || std::fscanf(file, "%d", &K) != 1) return 2;
    std::vector<double> p(K * K);
    for (auto& each : p) if (std::fscanf(file, "%lf", &each) != 1) return 2;
    int runs = std::atoi(arguments[3]);
    long horizon = std::atol(arguments[4]);
    double duels = 0;
    std::clock_t began = std::clock();
    for (int run = 0; run < runs; run++) {
        World world(K, p, run);
        if (!std::strcmp(arguments[1], "d-ts")) double_thompson(world, horizon, false);
        else if (!std::strcmp(arguments[1], "d-ts+")) double_thompson(world, horizon, true);
        else if (!std::strcmp(arguments[1], "rucb")) relative_ucb(world, horizon, false);
        else if (!std::strcmp(arguments[1], "rucb-ahead")) relative_ucb(world, horizon, true);
        else if (!std::strcmp(arguments[1], "rmed1")) rmed1(world, horizon);
        else return 2;
        duels += double(world.duels);
    }
    double seconds = double(std::clock() - began) / CLOCKS_PER_SEC;
    std::printf("%.6f %.3f\n", seconds, duels / runs);
}
