// Times crba and aba of Pinocchio in a loop of C++: loops CHAIN-FILE COUNT
// The file holds, for each joint: parent, kind (0..5: revolute x y z, prismatic x y z; 6, 7 any axis), axis (3), pole (3),
// mass, centre (3), inertia at the centre xx yy zz xy xz yz.
#include <pinocchio/fwd.hpp>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/multibody.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace pinocchio;

static JointIndex add(Model& model, JointIndex parent, int kind, const Eigen::Vector3d& axis, const SE3& place, const std::string& name)
{
    switch (kind) {
        case 0: return model.addJoint(parent, JointModelRX(), place, name);
        case 1: return model.addJoint(parent, JointModelRY(), place, name);
        case 2: return model.addJoint(parent, JointModelRZ(), place, name);
        case 3: return model.addJoint(parent, JointModelPX(), place, name);
        case 4: return model.addJoint(parent, JointModelPY(), place, name);
        case 5: return model.addJoint(parent, JointModelPZ(), place, name);
        case 6: return model.addJoint(parent, JointModelRevoluteUnaligned(axis), place, name);
        default: return model.addJoint(parent, JointModelPrismaticUnaligned(axis), place, name);
    }
}

int main(int, char** arguments)
{
    Model model;
    std::ifstream file(arguments[1]);
    const int count = std::stoi(arguments[2]);
    double v[20];
    std::vector<JointIndex> joints;
    while (file >> v[0]) {
        for (int i = 1; i < 18; i++) file >> v[i];
        const JointIndex parent = v[0] < 0 ? 0 : joints[static_cast<size_t>(v[0])];
        const SE3 place(Eigen::Matrix3d::Identity(), Eigen::Vector3d(v[5], v[6], v[7]));
        joints.push_back(add(model, parent, static_cast<int>(v[1]), Eigen::Vector3d(v[2], v[3], v[4]), place, std::to_string(joints.size())));
        Eigen::Matrix3d inertia;
        inertia << v[12], v[15], v[16], v[15], v[13], v[17], v[16], v[17], v[14];
        model.appendBodyToJoint(joints.back(), Inertia(v[8], Eigen::Vector3d(v[9], v[10], v[11]), inertia), SE3::Identity());
    }
    Data data(model);
    std::vector<Eigen::VectorXd> q, dq, tau;
    for (int k = 0; k < 1000; k++) {
        q.push_back(Eigen::VectorXd::Random(model.nq));
        dq.push_back(Eigen::VectorXd::Random(model.nv));
        tau.push_back(Eigen::VectorXd::Random(model.nv));
    }
    double sum = 0.0;
    using clock = std::chrono::steady_clock;
    auto begin = clock::now();
    for (int k = 0; k < count; k++) sum += crba(model, data, q[k % 1000])(0, 0);
    const double matrix = std::chrono::duration<double>(clock::now() - begin).count() / count;
    begin = clock::now();
    for (int k = 0; k < count; k++) sum += aba(model, data, q[k % 1000], dq[k % 1000], tau[k % 1000])(0);
    const double forward = std::chrono::duration<double>(clock::now() - begin).count() / count;
    std::printf("{\"crba\": %.9g, \"aba\": %.9g, \"sum\": %.3g}\n", matrix, forward, sum);
    return 0;
}
