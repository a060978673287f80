// The cheapest exact way to the marginals of all families of a Bayesian network: jobs of inference, each of which gives
// some of them, by one junction tree of an ancestral graph or by one elimination.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/inference.hpp"

namespace fishernet {

enum class FamilyMethod { automatic, tree, elimination };

// Without findings, what is asked of a variable is P(its parents): its family's marginal is that times its conditional.
// With findings it is the marginal of the family's unobserved variables.
class FamilyPlan {
public:
    // Tables of more than `most` cells are not planned.
    FamilyPlan(const FactorModel& model, const Scope& observed, const Scope& soft, FamilyMethod method, double most,
               StopCheck check);
    FamilyPlan(FamilyPlan&&) = default;

    bool complete() const { return too_large_ == 0; }  // or given up: it cannot be run
    double cells_held() const;                          // by the job that holds most
    double cost() const;

    // One table a variable. Empty when the findings are impossible.
    std::vector<std::vector<double>> run(const Findings& findings, StopCheck check) const;

private:
    struct Request {
        std::int32_t variable;
        Scope target;
    };

    double cost_of_planning(const Scope& observed, const Scope& soft, const std::vector<Request>& requests) const;
    void plan_by_elimination(const Scope& observed, const Scope& soft, const std::vector<Request>& requests,
                             StopCheck check);
    std::vector<Inference> plan_singly(const Scope& observed, const Scope& soft, const std::vector<Request>& requests,
                                       StopCheck check);
    void add_job(Inference inference, std::vector<std::int32_t> variables);
    void derive(std::int32_t variable, std::vector<std::vector<double>>& found) const;

    const FactorModel& model_;
    bool has_findings_;
    double most_;
    double too_large_ = 0;  // the cells of a table at which the plan was given up
    std::vector<Inference> jobs_;
    std::vector<std::vector<std::int32_t>> answers_;  // of every job: whose tables its targets are
    std::vector<std::int32_t> sources_;               // the variable whose family holds the parents of another; or -1
    std::vector<std::int32_t> order_;                 // parents before children
};

}  // namespace fishernet
